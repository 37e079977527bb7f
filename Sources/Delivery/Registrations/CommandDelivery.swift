import AMQP
import EventLoop

/// One delivery of a command, from its arrival to its acknowledgment, rejection or requeue.
final class CommandDelivery {
    /// The state of a delivery. An open delivery is settled at the end of its last operation.
    private enum State {
        case open(operations: Int)
        case settled
    }

    let message: IncomingMessage
    let arrivedAt: MonotonicTime
    /// The command's timestamp in UNIX milliseconds, or the time of arrival if the timestamp is missing or too large.
    private let publishedAtMilliseconds: Int64
    private var state = State.open(operations: 0)
    /// Whether the end of the last operation rejects the delivery. The broker then dead-letters the command.
    var mustReject = false

    init(_ message: IncomingMessage, _ now: Now) {
        self.message = message
        arrivedAt = now.monotonic
        publishedAtMilliseconds =
            message.properties.timestampSeconds.map { Int64(clamping: $0).multipliedReportingOverflow(by: 1000) }
            .flatMap { $0.overflow ? nil : $0.partialValue } ?? now.unixMilliseconds
    }

    var isSettled: Bool {
        if case .settled = state { true } else { false }
    }

    func ageMilliseconds(_ now: Now) -> Int64 { max(0, now.unixMilliseconds - publishedAtMilliseconds) }

    /// Counts an operation that must end before the delivery is settled.
    func begin() {
        if case .open(let operations) = state { state = .open(operations: operations + 1) }
    }

    /// Ends an operation. If the operation was the last one, settles the delivery and returns true. Otherwise, returns
    /// false.
    func end() -> Bool {
        guard case .open(let operations) = state else { return false }
        state = operations > 1 ? .open(operations: operations - 1) : .settled
        return operations <= 1
    }

    /// Settles the delivery even if operations are outstanding. Returns false if the delivery is already settled.
    func abandon() -> Bool {
        if isSettled { return false }
        state = .settled
        return true
    }
}

/// The deliveries that may be unsettled, in the order of their arrival.
struct DeliveryLedger {
    private var deliveries = FIFO<CommandDelivery>()

    mutating func append(_ delivery: CommandDelivery) { deliveries.append(delivery) }

    /// Returns the unsettled delivery that arrived first; nil if there is none.
    mutating func oldest() -> CommandDelivery? {
        while let first = deliveries.first, first.isSettled { deliveries.removeFirst() }
        return deliveries.first
    }

    /// Removes all deliveries, and returns those that are unsettled.
    mutating func removeAll() -> [CommandDelivery] {
        var unsettled: [CommandDelivery] = []
        while let first = deliveries.popFirst() {
            if !first.isSettled { unsettled.append(first) }
        }
        return unsettled
    }
}
