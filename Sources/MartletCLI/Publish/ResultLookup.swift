import AMQP
import BrokerTopology
import CommandKit
import Configuration
import ControlProtocol
import EventLoop
import HTTPClient
import Text
import Threads

/// A query of the broker, and of this user's workers on this machine, for the causes of missing results or replies.
/// Prints the causes.
struct ResultLookup: Sendable {
    /// The delay before the first lookup. A healthy worker publishes a result sooner.
    private static let firstDelaySeconds = 3
    private static let delaySeconds = 10
    private static let brokerSecondsMax = 5

    private let connector: BrokerConnector
    private let subject: MissingResultCauses.Subject
    /// The queues in which the requests or commands wait for a worker.
    private let queues: [String]
    private let commands: CommandAdvice

    /// Creates a lookup for missing results.
    ///
    /// - Parameter queue: the queue that the requests are published to; nil for the request exchange, which
    ///   can route to every request queue.
    init(connector: BrokerConnector, queue: String?, commands: CommandAdvice) {
        (self.connector, self.commands, subject) = (connector, commands, .result)
        queues = queue.map { [$0] } ?? connector.names.requestQueuesAndShards
    }

    /// Creates a lookup for missing replies to registration commands.
    init(ofRegistrationReplies connector: BrokerConnector, commands: CommandAdvice) {
        (self.connector, self.commands, subject) = (connector, commands, .reply)
        queues = [connector.names.registrationsQueue]
    }

    /// Looks up the causes repeatedly, and prints each cause once on standard error. Returns after the task is
    /// canceled.
    func repeatUntilCancelled(on loop: EventLoop) async {
        var printed: Set<String> = []
        var delay = Self.firstDelaySeconds
        while true {
            await loop.sleep(for: .seconds(delay))
            guard !Task.isCancelled else { return }
            let lines = await causes(on: loop).lines
            guard !Task.isCancelled else { return }
            for line in lines where printed.insert(line).inserted {
                Terminal.error.line("martlet: no \(subject.rawValue) yet: \(line)".printable)
            }
            delay = Self.delaySeconds
        }
    }

    private func causes(on loop: EventLoop) async -> MissingResultCauses {
        let (broker, prefix) = (connector.name, connector.names.prefix)
        let workers = await DetachedThread.run { Self.workers(broker, prefix) }
        return MissingResultCauses(
            subject: subject, queues: await statuses(on: loop), workers: workers, commands: commands)
    }

    /// Returns the depth and consumers of the queues. After an error, returns only the statuses that were read
    /// before.
    private func statuses(on loop: EventLoop) async -> [QueueStatus] {
        let admin = connector.admin(named: "martlet lookup", on: loop, deadlineSeconds: Self.brokerSecondsMax)
        admin.start()
        var statuses: [QueueStatus] = []
        do throws(AMQPError) {
            try await admin.waitUntilReady(deadlineSeconds: Self.brokerSecondsMax)
            for queue in queues { statuses.append(try await admin.status(ofQueue: queue)) }
        } catch {
            // The connection that consumes the results or replies reports an unreachable broker.
        }
        await admin.close()
        return statuses
    }

    /// Returns the workers of this user on this machine that use the broker and the prefix. Blocks.
    private static func workers(_ broker: String, _ prefix: String) -> [WorkerStatus] {
        let client = HTTPClient()
        return WorkerAddress.all(named: nil).compactMap { try? $0.status(client, isNamed: false)?.get().status }
            .filter { $0.uses(broker: broker, prefix: prefix) }
    }
}
