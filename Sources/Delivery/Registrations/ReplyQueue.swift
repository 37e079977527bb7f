import AMQP
import EventLoop
import Telemetry

/// A queue of replies to commands, several of which are published at a time.
///
/// `@unchecked Sendable`: loop-bound.
final class ReplyQueue: @unchecked Sendable {
    /// Maximum number of replies that are being published. A reply takes one or two round trips to the broker.
    static let publishesMax = 16

    private struct Entry {
        let reply: ReplyDelivery
        let completed: () -> Void
    }

    private let loop: EventLoop
    private let admin: BrokerAdmin
    private let publishers: [ReplyPublisher]
    /// The indices of the publishers without a reply.
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

    func start() { admin.start() }

    /// The reason why a reply cannot be published; nil while replies are confirmed.
    var failure: String? { publishers.lazy.compactMap(\.failure).first }

    /// Publishes a reply.
    ///
    /// - Parameter completed: Called when the reply is published, or no broker can accept it. Not called after `end`.
    func publish(_ reply: ReplyDelivery, _ completed: @escaping () -> Void) {
        waiting.append(Entry(reply: reply, completed: completed))
        guard let publisher = idle.popLast() else { return }
        Task(executorPreference: loop) { await self.publishWaiting(publisher) }
    }

    /// Gives up all replies.
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
