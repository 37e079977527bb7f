import CCURL
import Glibc

/// libcurl, loaded when a request, a URL or the version is first needed. Many workers never need libcurl, which loads
/// 17 other libraries (decision 30).
public enum CurlLibrary {
    /// The error of loading libcurl; nil if it was loaded. Loading also ignores SIGPIPE in the process, since libcurl
    /// may write to a closed connection on any thread.
    private static let failure: HTTPError? = {
        signal(SIGPIPE, SIG_IGN)
        return martlet_curl_load().map { HTTPError(.unavailable, "cannot load libcurl: \(String(cString: $0))") }
    }()

    static func load() throws(HTTPError) {
        if let failure { throw failure }
    }

    /// Returns the version of the loaded library, such as `7.88.1`, not of the library at build time.
    ///
    /// - Throws: ``HTTPError`` of code `unavailable` if libcurl cannot be loaded.
    public static func version() throws(HTTPError) -> String {
        try load()
        return String(cString: martlet_curl_version())
    }
}
