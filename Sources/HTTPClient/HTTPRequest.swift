/// What is asked of an HTTP server.
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
    /// In this order; `Host` and `Content-Length` are made.
    public var headers: [(name: String, value: String)] = []
    public var body: [UInt8] = []
    /// A Unix socket to connect to, whatever the URL's host; at most ``unixSocketPathBytesMax``.
    public var unixSocketPath: String?
    /// PEM of the authorities that may have signed the server's certificate, instead of the system's.
    public var authoritiesPEM: String?
    public var limits = HTTPLimits()

    /// What the address of a Unix socket holds, less the zero at its end (unix(7)).
    public static let unixSocketPathBytesMax = 107

    public init(_ method: Method = .get, _ url: HTTPURL) {
        self.method = method
        self.url = url
    }

    /// - Throws: when a header or a path would not arrive as it is written.
    func check() throws(HTTPError) {
        for (name, value) in headers {
            guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter) else {
                throw HTTPError(.invalidRequest, "the name of a header holds what none may hold")
            }
            guard !value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
                throw HTTPError(.invalidRequest, "the header \(name) holds a control character")
            }
        }
        if let unixSocketPath {
            guard 1...Self.unixSocketPathBytesMax ~= unixSocketPath.utf8.count, !unixSocketPath.utf8.contains(0) else {
                throw HTTPError(
                    .invalidRequest, "the path of a Unix socket has 1 to \(Self.unixSocketPathBytesMax) bytes")
            }
        }
    }

    /// Where it goes, for messages.
    var place: String { unixSocketPath ?? url.place }
}

extension UInt8 {
    /// RFC 9110, section 5.6.2.
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
