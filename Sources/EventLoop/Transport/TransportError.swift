/// The reason why a byte stream could not be opened, or ended.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The host name has no address, or the name service did not answer.
        case resolve
        /// No process listens at the address.
        case refused
        /// No route, interface or permission.
        case unreachable
        /// Connecting, the handshake or an answer took too long.
        case timedOut
        /// The peer or the network closed the stream without an orderly close.
        case reset
        /// The listening address is in use, does not exist, or is not permitted.
        case addressUnavailable
        /// The handshake failed, or the peer violated the TLS protocol.
        case tls
        /// The peer answered a TLS handshake with another protocol.
        case notTLS
        /// The peer's certificate is not accepted: chain, host name or validity.
        case certificate
        /// The peer refused our certificate.
        case certificateRefused
        /// A proxy is unreachable or refuses the connection.
        case proxy
        /// The peer violated the protocol above.
        case protocolViolation
        /// Descriptors or memory are exhausted.
        case resources
    }

    public var code: Code
    /// A text that an operator can act on; contains no secret.
    public var message: String
    /// `errno`, or 0.
    public var underlying: Int32

    public init(_ code: Code, _ message: String, underlying: Int32 = 0) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// Whether a later attempt can succeed without a change of the configuration.
    public var isRetriable: Bool {
        switch code {
        case .resolve, .refused, .unreachable, .timedOut, .reset, .proxy, .resources: true
        case .addressUnavailable, .tls, .notTLS, .certificate, .certificateRefused, .protocolViolation: false
        }
    }

    public var description: String { message }
}
