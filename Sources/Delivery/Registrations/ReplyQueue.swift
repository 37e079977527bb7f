import AMQP
import EventLoop
import Telemetry

/// A queue of replies to commands. It publishes up to `publishesMax` replies at the same time.
///
/// `@unchecked Sendable`: loop-bound.
final class ReplyQueue: @unchecked Sendable {
    /// Maximum number of replies that are being published at the same time.
    static let publishesMax = 16

    private struct Entry {
        let reply: ReplyDelivery
        let delivery: CommandDelivery
        let completed: () -> Void
    }

    private let loop: EventLoop
    private let admin: BrokerAdmin
    private let publishers: [ReplyPublisher]
    /// The indices of the publishers that are publishing no reply.
    private var idle: [Int]
    private var waiting = FIFO<Entry>()
    private var isEnded = false

    /// Creates a queue.
    ///
    /// - Parameter admin: The admin that checks whether a consumer exists, as for `ReplyPublisher`.
    init(
        _ publisher: Publisher, admin: BrokerAdmin, repeats: Counter, log: Log,
        completeRemedy: @escaping @Sendable (String) -> String
    ) {
        (loop, self.admin) = (publisher.loop, admin)
        publishers = (0..<Self.publishesMax).map { _ in
            ReplyPublisher(
                publisher, admin: admin, repeats: repeats, log: log, returnedEvent: nil,
                completeRemedy: completeRemedy)
        }
        idle = Array(publishers.indices)
    }

    /// Starts the queue.
    ///
    /// - Parameter failureChanged: Called when a reply becomes stuck, and at the end of each stuck reply.
    func start(failureChanged: @escaping () -> Void) {
        for publisher in publishers { publisher.observeFailure(failureChanged) }
        admin.start()
    }

    /// The reason why a reply is stuck; nil if no reply is stuck.
    var failure: String? { publishers.lazy.compactMap(\.failure).first }

    /// Publishes the reply to the command of a delivery.
    ///
    /// - Parameter completed: Called when the reply is published, or if no broker can accept it. Not called if
    ///   `removeSettled` or `end` gives up the reply.
    func publish(_ reply: ReplyDelivery, for delivery: CommandDelivery, _ completed: @escaping () -> Void) {
        waiting.append(Entry(reply: reply, delivery: delivery, completed: completed))
        guard let publisher = idle.popLast() else { return }
        Task(executorPreference: loop) { await self.publishWaiting(publisher) }
    }

    /// Gives up the waiting replies whose deliveries are settled. Otherwise, each redelivery of a command would add a
    /// reply while no reply can be published.
    func removeSettled() {
        var unsettled = FIFO<Entry>()
        while let next = waiting.popFirst() {
            if !next.delivery.isSettled { unsettled.append(next) }
        }
        waiting = unsettled
    }

    /// Gives up the waiting replies and the repeats of the others.
    func end() {
        isEnded = true
        waiting = FIFO()
        for publisher in publishers { publisher.endPauses() }
    }

    private func publishWaiting(_ publisher: Int) async {
        while let next = waiting.popFirst() {
            if await publishers[publisher].publish(next.reply, until: { isEnded }) { next.completed() }
        }
        idle.append(publisher)
    }
}
