public struct HTTPRequest: Sendable {
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    public var method: Method
    public var url: HTTPURL
    /// Header fields in the order of sending. libcurl adds other fields, such as `Host`, `User-Agent` and
    /// `Content-Length`.
    public var headers: [(name: String, value: String)] = []
    public var body: [UInt8] = []
    /// The path of a Unix socket to connect to instead of the URL's host, at most ``unixSocketPathBytesMax`` bytes.
    public var unixSocketPath: String?
    /// PEM of the trusted authorities; nil trusts the system's authorities.
    public var authoritiesPEM: String?
    public var limits = HTTPLimits()

    /// Maximum length of a Unix socket's path, without the terminating zero (unix(7)).
    public static let unixSocketPathBytesMax = 107

    public init(_ method: Method = .get, _ url: HTTPURL) {
        self.method = method
        self.url = url
    }

    /// Checks the headers and the socket path.
    ///
    /// - Throws: `invalidRequest` for an invalid header or socket path.
    func check() throws(HTTPError) {
        for (name, value) in headers {
            guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter) else {
                throw HTTPError(.invalidRequest, "a header name is empty or contains an invalid character")
            }
            guard !value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
                throw HTTPError(.invalidRequest, "the header \(name) contains a control character")
            }
        }
        if let unixSocketPath {
            guard 1...Self.unixSocketPathBytesMax ~= unixSocketPath.utf8.count, !unixSocketPath.utf8.contains(0) else {
                throw HTTPError(
                    .invalidRequest,
                    "the path of a Unix socket must have 1 to \(Self.unixSocketPathBytesMax) bytes, without zero bytes")
            }
        }
    }

    /// The destination, for error messages.
    var place: String { unixSocketPath ?? url.place }
}

extension UInt8 {
    /// Whether the byte is a `tchar` of RFC 9110, section 5.6.2.
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
