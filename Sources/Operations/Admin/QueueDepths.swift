import AMQP
import Delivery
import EventLoop
import Telemetry

/// Asks the broker now and then how much lies in its queues. On the control loop, with a connection of its own.
final class QueueDepths {
    private static let intervalSeconds = 10

    private let loop: EventLoop
    private let admin: BrokerAdmin
    private let queues: [String]
    private let unroutedQueue: String
    private let log: Log
    private let commands: CommandAdvice
    private var unroutedNotice = UnroutedNotice()
    private var isClosed = false
    /// As the broker said last. Queues that are missing, or may not be looked at, are left out.
    private(set) var latest: [QueueStatus] = []
    private var seenAt: MonotonicTime?

    init(loop: EventLoop, access: BrokerAccess, topology: Topology, log: Log, commands: CommandAdvice) {
        self.loop = loop
        (self.log, self.commands) = (log, commands)
        unroutedQueue = topology.names.unroutedQueue
        queues = topology.queues.map(\.name)
        admin = access.admin(named: "martlet worker queues", on: loop)
    }

    /// Of `latest`; nil before the broker has answered, and after it was lost.
    var secondsOld: Int? { seenAt.map { Int($0.duration(to: loop.now.monotonic).components.seconds) } }

    /// Until `close`.
    func watch() async {
        admin.start()
        while !isClosed {
            await look()
            await loop.sleep(for: .seconds(Self.intervalSeconds))
        }
    }

    private func look() async {
        var found: [QueueStatus] = []
        for queue in queues where !isClosed {
            do throws(AMQPError) {
                found.append(try await admin.status(ofQueue: queue))
            } catch  where error.isUnreachable {
                // What was true before the outage is not.
                (latest, seenAt) = ([], nil)
                return
            } catch {
                continue
            }
        }
        (latest, seenAt) = (found, loop.now.monotonic)
        warnOfUnroutedResults()
    }

    /// The exchange for results hands a result without a queue to its alternate exchange, and the broker confirms it: only
    /// the depth of that queue shows that consumers miss it.
    private func warnOfUnroutedResults() {
        guard let unrouted = latest.first(where: { $0.name == unroutedQueue }),
            unroutedNotice.isDue(unrouted.messages, consumers: unrouted.consumers, now: loop.now.monotonic)
        else { return }
        log.warning(
            .resultsUnrouted,
            [
                .amqpQueue: .string(unrouted.name), .count: .integer(unrouted.messages),
                .error: .string(commands.completed(Self.unroutedAdvice)),
            ])
    }

    private static let unroutedAdvice =
        "a queue or its binding is missing: run martlet topology apply, or bind a queue by result.#; "
        + "then run martlet unrouted replay"

    func close() async {
        isClosed = true
        await admin.close(deadlineSeconds: Lane.closeDeadlineSeconds)
    }
}
