/// The reason why a request has no complete response. A response with any status is not an error.
public struct HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// An invalid request or URL.
        case invalidRequest
        /// A host name that cannot be resolved.
        case cannotResolve
        /// A server that refused the connection or is unreachable.
        case cannotConnect
        /// A TLS failure, usually because the certificate is not trusted or is for another host.
        case tls
        /// A response that was not complete in time.
        case timedOut
        /// The end of the connection before the response was complete.
        case connectionLost
        /// A response whose header or body exceeds the limits of the request.
        case tooLarge
        /// A server that does not speak HTTP/1.1.
        case notHTTP
        /// A libcurl that cannot be loaded, is out of memory, or fails for another reason.
        case unavailable
    }

    public let code: Code
    /// The problem, usually preceded by the destination of the request. Contains no credentials.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
