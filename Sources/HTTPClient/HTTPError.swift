/// Why there is no answer to a request. An answer of any status is none of these.
public struct HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The request cannot be sent as it is.
        case invalidRequest
        /// The host's name has no address.
        case cannotResolve
        /// Nobody listens there, or it cannot be reached.
        case cannotConnect
        /// TLS failed: mostly a certificate that is not trusted, or is another host's.
        case tls
        /// The answer was not whole in time.
        case timedOut
        /// The connection ended before the answer was whole.
        case connectionLost
        /// Header or body have more bytes than the request allows.
        case tooLarge
        /// What answers does not speak HTTP/1.1.
        case notHTTP
        /// libcurl could not do its part: it cannot be loaded, is out of memory, or was built without what is needed.
        case unavailable
    }

    public let code: Code
    /// For an operator: which host, and what happened. Holds no credentials.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
