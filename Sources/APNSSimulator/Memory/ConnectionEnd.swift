import EventLoop

/// The cause of a connection's end.
public enum ConnectionEnd: String, CaseIterable, Sendable, Hashable {
    /// An orderly close by the client.
    case client
    /// A broken connection, or a close by the client without notice.
    case lost
    /// A failed TLS handshake, or a violation of TLS by the client.
    case tls
    /// A violation of HTTP/2 by the client.
    case protocolViolation = "protocol_violation"
    /// A refusal, because the simulator had too many connections or the client's address had too many short
    /// connections.
    case refused
    /// A close to make room for other connections, or because the handshakes exceeded their timeout.
    case sentAway = "sent_away"
    /// A GOAWAY that the simulator sent for a fault or a rule, or a close for a rule.
    case goAway = "goaway"
    /// A reset or close by a fault.
    case fault
    /// The shutdown of the simulator.
    case shutdown

    /// Creates the cause for a connection that the simulator did not close. A nil error means an orderly close by the
    /// client.
    init(_ error: TransportError?) {
        switch error?.code {
        case nil: self = .client
        case .tls, .notTLS, .certificate, .certificateRefused: self = .tls
        case .protocolViolation: self = .protocolViolation
        case .resolve, .refused, .unreachable, .timedOut, .reset, .proxy, .addressUnavailable, .resources: self = .lost
        }
    }
}
