import AMQP
import BrokerTopology
package import Configuration
package import Crypto
package import DeadLetters
import Delivery
package import EventLoop
import Text

/// The publication of the chosen messages of one or more queues for a console. Connections of its own read the queues,
/// so that a loss requeues all messages that were not published.
///
/// Loop-bound. `@unchecked Sendable`: only the loop uses the object.
package final class ResendRun: QueueRun, ResendHandler, @unchecked Sendable {
    /// Maximum number of ids that the run keeps.
    package static let idsMax = 100

    private let settings: ResendSettings
    private let queues: [String]
    private let connector: BrokerConnector
    private let loop: EventLoop
    private let deliveryLimit: Int?
    /// The number of messages that cannot be sent, as the dry run has counted them.
    private let unsendable: Int
    private let sent: (UUIDValue) -> Void
    private lazy var resend = MessageResend(settings, on: loop, self)
    /// The ids of the first requests that were published.
    package private(set) var ids: [String] = []
    /// The reason why messages were not published, or why the run ended early.
    private var problem: String?
    /// Whether the broker would discard messages after more deliveries.
    private var isWorn = false
    private var isStopped = false
    /// The number of messages that a dry run has not read, because the window is full.
    private var unread = 0

    /// - Parameters:
    ///   - queues: the queues in the order of reading.
    ///   - deliveryLimit: the delivery limit of the queues; nil without a limit.
    ///   - unsendable: the number of messages that cannot be sent, as the dry run has counted them.
    ///   - sent: called with the id of each request that was published.
    package init(
        _ settings: ResendSettings, of queues: [String], deliveryLimit: Int?, _ connector: BrokerConnector,
        on loop: EventLoop, unsendable: Int = 0, sent: @escaping (UUIDValue) -> Void = { _ in }
    ) {
        (self.unsendable, self.sent) = (unsendable, sent)
        (self.settings, self.queues, self.deliveryLimit) = (settings, queues, deliveryLimit)
        (self.connector, self.loop) = (connector, loop)
    }

    package var counts: RedriveCounts { resend.counts }

    /// The number of messages in a dry run.
    package var extent: MessageExtent {
        MessageExtent(
            count: counts.redriven + unread, isAtMost: unread > 0, invalid: counts.invalid,
            unsendable: counts.failed + counts.unroutable)
    }

    package var done: Int { counts.redriven }

    package var summary: String { counts.line(isDryRun: false, verb: settings.source.resent) }

    package func stop(_ problem: String?) {
        isStopped = problem == nil
        self.problem = self.problem ?? problem
        resend.stop()
    }

    package func run() async -> QueueRunEnd {
        do throws(AMQPError) {
            for queue in try await filled() {
                guard !resend.isOver, problem == nil else { break }
                try await run(of: queue)
            }
        } catch {
            problem = problem ?? error.message
        }
        problem = problem ?? resend.failure?.failure
        if let problem { return isWorn ? .worn(problem) : .failed(problem) }
        if isStopped { return .stopped }
        // The extent of a dry run counts the messages that cannot be sent.
        if settings.isDryRun { return .complete }
        // The operator expects only messages to stay that a worker would refuse, or that the plan has counted.
        let unsent = counts.chosen - counts.redriven - counts.invalid
        guard unsent > unsendable else { return .complete }
        return .failed("\(unsent.counted(settings.source.noun)) may still be in the queue")
    }

    private func run(of queue: String) async throws(AMQPError) {
        let scan = DeadLetterScan(
            of: queue, settings.source, connector, on: loop, nil, deliveryLimit: deliveryLimit,
            window: settings.window)
        do throws(AMQPError) {
            try await scan.open()
        } catch {
            await scan.close()
            // The topology may have changed.
            guard error.code == .notFound, queues.count > 1 else { throw error }
            return
        }
        await resend.run(scan)
        if settings.isDryRun, scan.end == .windowFull {
            unread = min(scan.total - scan.seen, (settings.limit ?? .max) - counts.redriven)
        } else {
            problem = problem ?? scan.problem
            if case .worn = scan.end { isWorn = true }
        }
        let isSettled = await scan.close()
        guard !isSettled, scan.acknowledgedCount > 0 else { return }
        problem = problem ?? "\(queue): the last messages may still be in the queue"
    }

    /// Returns the queues with ready messages. Returns a single queue without a check.
    private func filled() async throws(AMQPError) -> [String] {
        guard queues.count > 1 else { return queues }
        let admin = connector.admin(named: settings.source.command, on: loop)
        admin.start()
        var filled: [String] = []
        var failure: AMQPError?
        for queue in queues where failure == nil {
            do throws(AMQPError) {
                if try await admin.status(ofQueue: queue).messages > 0 { filled.append(queue) }
            } catch {
                if error.code != .notFound { failure = error }
            }
        }
        await admin.close()
        if let failure { throw failure }
        return filled
    }

    package func reported(_ report: ResendReport) {
        guard case .resent = report.outcome, let id = RequestIdentity.of(messageID: report.id) else { return }
        if ids.count < Self.idsMax { ids.append(id.description) }
        sent(id)
    }
}
