import EventLoop

/// The cause of a connection's end.
public enum ConnectionEnd: String, CaseIterable, Sendable, Hashable {
    /// The client closed the connection in order.
    case client
    /// The connection broke, or the client closed it without notice.
    case lost
    /// The TLS handshake failed, or the client violated TLS.
    case tls
    /// The client violated HTTP/2.
    case protocolViolation = "protocol_violation"
    /// The simulator had too many connections.
    case refused
    /// The client took too long to connect, or the simulator made room for other connections.
    case sentAway = "sent_away"
    /// The simulator sent GOAWAY for a fault or a rule.
    case goAway = "goaway"
    /// A fault reset or closed the connection.
    case fault
    /// The simulator shut down.
    case shutdown

    /// Creates the cause for a connection that the simulator did not close. A nil error means that the client closed it
    /// in order.
    init(_ error: TransportError?) {
        switch error?.code {
        case nil: self = .client
        case .tls, .notTLS, .certificate, .certificateRefused: self = .tls
        case .protocolViolation: self = .protocolViolation
        case .resolve, .refused, .unreachable, .timedOut, .reset, .proxy, .addressUnavailable, .resources: self = .lost
        }
    }
}
