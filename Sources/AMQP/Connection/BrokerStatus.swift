public import EventLoop

/// The status of a connection to the broker, or of one of its channels.
public enum BrokerStatus: Sendable, Hashable {
    /// The status before `start`. For a channel, also the status while its connection opens for the first time.
    case idle
    /// A connection that connects and logs in, or a channel that opens and is set up.
    case connecting(Endpoint)
    /// A connection or channel that is open and set up.
    case ready
    /// An open connection or channel on which the broker currently accepts no publishes, such as during a memory or
    /// disk alarm. The reason is the broker's text.
    case blocked(reason: String)
    /// A failed connection or channel, or a channel whose consumer the broker has ended. The next attempt follows after
    /// the delay. A channel that exceeds the broker's channel limit has a delay of zero, and waits for the next
    /// connection.
    case waiting(AMQPError, delay: Duration)
    /// A channel whose connection is lost. The connection reports the reason.
    case disconnected
    case closed
}

extension BrokerStatus {
    /// Creates the status of a connection; nil while the connection closes, because the previous status stays.
    init?(_ connection: ConnectionMachine.State) {
        switch connection {
        case .idle: self = .idle
        case .connecting(let endpoint), .loggingIn(let endpoint, _): self = .connecting(endpoint)
        case .open(_, blocked: let reason): self = reason.map { .blocked(reason: $0) } ?? .ready
        case .closing: return nil
        case .waiting(let retry): self = .waiting(retry.error, delay: retry.delay)
        case .closed: self = .closed
        }
    }

    /// Creates the status of a channel; nil while the channel or its connection closes for good, because the previous
    /// status stays.
    init?(_ channel: ChannelMachine.State, on connection: ConnectionMachine.State) {
        switch (channel, connection) {
        case (.closed, _), (.unanswered, _): self = .closed
        case (_, .closing), (_, .closed): return nil
        case (.closing(then: .never), _): return nil
        case (.idle, _): self = .idle
        case (.reopening(let retry), _), (.interrupted(let retry), _), (.closing(then: .after(let retry)), _):
            self = .waiting(retry.error, delay: retry.delay)
        case (.refused(let error), _): self = .waiting(error, delay: .zero)
        case (.opening, .open(let endpoint, _)), (.settingUp, .open(let endpoint, _)),
            (.closing(then: .atOnce), .open(let endpoint, _)):
            self = .connecting(endpoint)
        case (.open, .open(_, blocked: let reason)): self = reason.map { .blocked(reason: $0) } ?? .ready
        case (.detached, _), (.opening, _), (.settingUp, _), (.open, _), (.closing(then: .atOnce), _):
            self = .disconnected
        }
    }
}
