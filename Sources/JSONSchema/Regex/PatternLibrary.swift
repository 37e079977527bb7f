import CPCRE2

/// The PCRE2 library that this process has loaded.
public enum PatternLibrary {
    /// The version, without the release date; `-` if unknown.
    public static var version: String {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { text in
            guard let start = text.baseAddress, pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), start) > 0 else {
                return "-"
            }
            return String(String(cString: start.assumingMemoryBound(to: CChar.self)).prefix { $0 != " " })
        }
    }
}
