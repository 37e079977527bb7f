/// The reason for which a request has no response. A response with any status is not an error.
public struct HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The request or its URL is invalid.
        case invalidRequest
        /// The host name has no address.
        case cannotResolve
        /// The server refused the connection or is unreachable.
        case cannotConnect
        /// TLS failed, usually because the certificate is not trusted or is for another host.
        case tls
        /// The response was not complete in time.
        case timedOut
        /// The connection ended before the response was complete.
        case connectionLost
        /// The header or the body exceeds the limits of the request.
        case tooLarge
        /// The server does not speak HTTP/1.1.
        case notHTTP
        /// libcurl cannot be loaded, is out of memory, or lacks a required feature.
        case unavailable
    }

    public let code: Code
    /// The host and the problem, for an operator. Contains no credentials.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
