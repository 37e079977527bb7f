public import EventLoop

/// The rules that decide which status changes of one connection or channel are logged as an outage.
public struct OutageLog: Sendable {
    public enum Line: Sendable, Hashable {
        /// A warning about a new outage.
        case began(AMQPError)
        /// A warning that the outage has lasted for this time.
        case lasts(AMQPError, Duration)
        /// The end of the outage after this time.
        case ended(after: Duration)
    }

    private var outage = Outage()

    public init() {}

    /// Returns the line to log after a change of the status or another failure; nil if no line is due.
    public mutating func changed(to state: BrokerStatus, now: MonotonicTime) -> Line? {
        switch state {
        case .waiting(let error, _):
            return failed(error, now)
        case .blocked(let reason):
            return failed(AMQPError(.refused, "the broker accepts no publishes: \(reason)"), now)
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
