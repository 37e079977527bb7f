import CNGHTTP2

/// What this process has loaded of nghttp2.
public enum HTTP2Library {
    public static var version: String { nghttp2_version(0).map { String(cString: $0.pointee.version_str) } ?? "-" }
}
