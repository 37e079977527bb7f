public import EventLoop

/// The status of a connection to the broker, or of one of its channels.
public enum BrokerStatus: Sendable, Hashable {
    /// `start` has not been called; of a channel also while its connection opens for the first time.
    case idle
    /// A connection logs in; a channel is opened and set up.
    case connecting(Endpoint)
    /// Connected and set up.
    case ready
    /// Connected, but the broker accepts no publishes for now (a memory or disk alarm): its reason.
    case blocked(reason: String)
    /// The connection or channel itself failed, and is tried again after the delay.
    case waiting(AMQPError, delay: Duration)
    /// Of a channel: its connection is lost. The connection's status says why.
    case disconnected
    case closed
}

extension BrokerStatus {
    /// The status of a connection; nil while it closes, when it keeps the last one.
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

    /// The status of a channel; nil once it or its connection closes, when it keeps the last one.
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
