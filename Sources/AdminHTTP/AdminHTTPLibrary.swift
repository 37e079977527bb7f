import CMicroHTTPD

/// What this process has loaded of libmicrohttpd.
public enum AdminHTTPLibrary {
    public static var version: String { MHD_get_version().map { String(cString: $0) } ?? "-" }
}
