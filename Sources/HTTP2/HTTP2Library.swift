import CNGHTTP2

/// The nghttp2 library that this process has loaded.
public enum HTTP2Library {
    public static var version: String { nghttp2_version(0).map { String(cString: $0.pointee.version_str) } ?? "-" }
}
