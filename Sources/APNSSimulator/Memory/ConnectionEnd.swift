import EventLoop

/// How a connection ended.
public enum ConnectionEnd: String, CaseIterable, Sendable, Hashable {
    /// The client closed the connection in order.
    case client
    /// The connection broke, or the client closed it without notice.
    case lost
    /// The TLS handshake failed, or a record broke the rules of TLS.
    case tls
    /// The client broke the rules of HTTP/2.
    case protocolViolation = "protocol_violation"
    /// The simulator had too many connections.
    case refused
    /// The client took too long to connect, or the simulator made room for other connections.
    case sentAway = "sent_away"
    /// The simulator sent GOAWAY for a fault or a rule.
    case goAway = "goaway"
    /// A fault reset or closed the connection.
    case fault
    /// The simulator ended.
    case shutdown

    /// The end of a connection that the simulator did not end. nil: the client closed the connection in order.
    init(_ error: TransportError?) {
        switch error?.code {
        case nil: self = .client
        case .tls, .notTLS, .certificate, .certificateRefused: self = .tls
        case .protocolViolation: self = .protocolViolation
        case .resolve, .refused, .unreachable, .timedOut, .reset, .proxy, .addressUnavailable, .resources: self = .lost
        }
    }
}
