import CCURL
import Glibc

/// libcurl, which is loaded by the first request or URL: many workers have neither, and 17 libraries come with it
/// (decision 30).
public enum CurlLibrary {
    /// It leaves a broken pipe to us, since it may be on any thread.
    private static let failure: HTTPError? = {
        signal(SIGPIPE, SIG_IGN)
        return martlet_curl_load().map { HTTPError(.unavailable, "libcurl cannot be loaded: \(String(cString: $0))") }
    }()

    static func load() throws(HTTPError) {
        if let failure { throw failure }
    }

    /// `7.88.1`; what is loaded, not what this program was built with.
    ///
    /// - Throws: ``HTTPError`` of code `unavailable` when it cannot be loaded.
    public static func version() throws(HTTPError) -> String {
        try load()
        return String(cString: martlet_curl_version())
    }
}
