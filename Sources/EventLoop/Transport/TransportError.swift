/// Why a byte stream could not be opened, or ended.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The host name has no address, or the name service did not answer.
        case resolve
        /// Nobody listens there.
        case refused
        /// No route, interface or permission.
        case unreachable
        /// Connecting, the handshake or an answer took too long.
        case timedOut
        /// The peer or the network ended the stream without a close.
        case reset
        /// The address to listen on cannot be had.
        case addressUnavailable
        /// The handshake failed, or the peer broke the rules of TLS.
        case tls
        /// The peer answered a TLS handshake in another protocol.
        case notTLS
        /// The peer is not who it should be: chain, host name or validity.
        case certificate
        /// The peer does not take the certificate that we showed.
        case certificateRefused
        /// A proxy on the way cannot be reached or does not let the connection through.
        case proxy
        /// The peer broke the rules of the protocol above.
        case protocolViolation
        /// Out of descriptors or memory.
        case resources
    }

    public var code: Code
    /// What an operator can act on; holds no secret.
    public var message: String
    /// `errno`, or 0.
    public var underlying: Int32

    public init(_ code: Code, _ message: String, underlying: Int32 = 0) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// Whether trying again later can help without somebody changing the configuration.
    public var isRetriable: Bool {
        switch code {
        case .resolve, .refused, .unreachable, .timedOut, .reset, .proxy, .resources: true
        case .addressUnavailable, .tls, .notTLS, .certificate, .certificateRefused, .protocolViolation: false
        }
    }

    public var description: String { message }
}
