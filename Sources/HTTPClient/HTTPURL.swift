import CCURL

/// An `http` or `https` URL, which is the target of a request or a base for paths. The description contains neither
/// the user nor the password.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    /// User and password of the Basic scheme (RFC 7617). Descriptions omit the password.
    public struct Credentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
        CustomReflectable
    {
        public var user: String
        public var password: String

        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        public var description: String { user }
        public var debugDescription: String { user }
        public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
    }

    public let usesTLS: Bool
    /// The host. An IPv6 address is in brackets.
    public let host: String
    public let port: UInt16
    /// The percent-encoded path, starting with a slash.
    public private(set) var path: String
    /// The query without the question mark.
    public var query: String?
    /// The credentials in the URL, sent with each request.
    public var credentials: Credentials?

    public static let bytesMax = 8192

    /// Parses a URL.
    ///
    /// - Throws: `invalidRequest` for an invalid URL, `unavailable` if libcurl cannot be loaded. No message quotes
    ///   the text, which may contain a password.
    public init(_ text: String) throws(HTTPError) {
        guard text.utf8.count <= Self.bytesMax, !text.utf8.contains(0) else { throw Self.invalid }
        try CurlLibrary.load()
        guard let parts = martlet_curl_url() else { throw Self.invalid }
        defer { martlet_curl_url_cleanup(parts) }
        let code = martlet_curl_url_set(parts, CURLUPART_URL, text, 0)
        guard code == CURLUE_OK, let scheme = Self.part(CURLUPART_SCHEME, of: parts),
            let host = Self.part(CURLUPART_HOST, of: parts), !host.isEmpty,
            let port = Self.part(CURLUPART_PORT, of: parts, UInt32(CURLU_DEFAULT_PORT)).flatMap({ UInt16($0) }),
            port > 0
        else { throw Self.invalid }
        switch scheme {
        case "http": usesTLS = false
        case "https": usesTLS = true
        default: throw Self.invalid
        }
        self.host = host
        self.port = port
        path = Self.part(CURLUPART_PATH, of: parts) ?? "/"
        query = Self.part(CURLUPART_QUERY, of: parts)
        if let user = Self.part(CURLUPART_USER, of: parts, UInt32(CURLU_URLDECODE)) {
            let password = Self.part(CURLUPART_PASSWORD, of: parts, UInt32(CURLU_URLDECODE))
            credentials = Credentials(user: user, password: password ?? "")
        }
    }

    private static let invalid = HTTPError(
        .invalidRequest, "invalid HTTP URL: expected http://host:port/path or https://host:port/path")

    private static func part(_ part: CURLUPart, of parts: OpaquePointer, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard martlet_curl_url_get(parts, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { martlet_curl_free(text) }
        return String(cString: text)
    }

    /// Returns the URL with segments appended to its path. Removes trailing slashes of the path first. Each segment is
    /// percent-encoded, including `/`.
    public func appending(_ segments: String...) -> HTTPURL { appending(segments) }

    public func appending(_ segments: [String]) -> HTTPURL {
        var url = self
        while url.path.last == "/" { url.path.removeLast() }
        for segment in segments { url.path += "/" + Self.encoded(segment) }
        return url
    }

    /// Returns the segment with all characters percent-encoded, except the unreserved characters of RFC 3986.
    public static func encoded(_ segment: String) -> String {
        var encoded = ""
        for byte in segment.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return encoded
    }

    /// Scheme, host and port, for error messages.
    public var place: String { "\(usesTLS ? "https" : "http")://\(host):\(port)" }

    /// The URL without user and password.
    public var description: String { place + path + (query.map { "?\($0)" } ?? "") }
}
