/// The reason why a byte stream could not be opened or has ended.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A host name without an address, a lookup that the name service could not answer, or too many pending
        /// lookups.
        case resolve
        /// An address at which no process listens.
        case refused
        /// A missing route or interface, or another failure that has no code of its own.
        case unreachable
        /// A lookup, connect, handshake, answer or acknowledgment that took too long.
        case timedOut
        /// An unexpected close of the stream by the peer or the network.
        case reset
        /// A local address that is in use, does not exist, or is not permitted.
        case addressUnavailable
        /// A failed handshake, an invalid server name, or a violation of the TLS protocol by the peer.
        case tls
        /// A peer that answers a TLS handshake in another protocol.
        case notTLS
        /// A certificate of the peer whose chain, host name or validity is not accepted, or a missing certificate of a
        /// client.
        case certificate
        /// A refusal of this side's certificate by the peer.
        case certificateRefused
        /// A proxy that is unreachable or refuses the connection.
        case proxy
        /// A violation by the peer of the protocol above the stream.
        case protocolViolation
        /// A lack of descriptors, memory or threads, or an unusable path of a file, folder or Unix socket.
        case resources
    }

    public var code: Code
    /// A text on which an operator can act. The text contains no secrets.
    public var message: String
    /// The `errno` or the resolver's status; 0 for other errors.
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
