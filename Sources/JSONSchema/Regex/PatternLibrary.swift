import CPCRE2

/// What this process has loaded of PCRE2.
public enum PatternLibrary {
    /// Without the date of its release.
    public static var version: String {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { text in
            guard let start = text.baseAddress, pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), start) > 0 else {
                return "-"
            }
            return String(String(cString: start.assumingMemoryBound(to: CChar.self)).prefix { $0 != " " })
        }
    }
}
