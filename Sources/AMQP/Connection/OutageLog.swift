public import EventLoop

/// Decides what an operator reads of an outage of a connection or channel: one of these for each. Pure.
public struct OutageLog: Sendable {
    public enum Line: Sendable, Hashable {
        /// To be logged as a warning.
        case began(AMQPError)
        /// To be logged as a warning: it goes on, for so long by now.
        case lasts(AMQPError, Duration)
        /// It is over after so long.
        case ended(after: Duration)
    }

    private var outage = Outage()

    public init() {}

    /// The state is another now, or failed again: what to log, if anything.
    public mutating func changed(to state: BrokerStatus, now: MonotonicTime) -> Line? {
        switch state {
        case .waiting(let error, _):
            return failed(error, now)
        case .blocked(let reason):
            return failed(AMQPError(.refused, "the broker takes no messages: \(reason)"), now)
        case .ready:
            return outage.ends(now).map { .ended(after: $0) }
        case .closed:
            outage.forget()
            return nil
        case .idle, .connecting, .disconnected:
            return nil
        }
    }

    private mutating func failed(_ error: AMQPError, _ now: MonotonicTime) -> Line? {
        outage.lasts(now).map { $0 == .zero ? .began(error) : .lasts(error, $0) }
    }
}
