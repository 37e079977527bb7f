import CMicroHTTPD

/// The libmicrohttpd that this process has loaded.
public enum AdminHTTPLibrary {
    public static var version: String { MHD_get_version().map { String(cString: $0) } ?? "-" }
}
