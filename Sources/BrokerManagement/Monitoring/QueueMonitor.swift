public import AMQP
public import BrokerTopology
import EventLoop
public import Telemetry

/// A monitor that reads the depths and consumers of the queues at an interval, and warns of unrouted results. It runs
/// on the control loop with its own connection.
public final class QueueMonitor {
    private static let intervalSeconds = 10
    private static let closeDeadlineSeconds = 1
    /// The remedy for unrouted results.
    public static let unroutedAdvice =
        "a queue or its binding is missing: run martlet topology apply, or bind a queue with the key result.#; "
        + "then run martlet unrouted replay"

    private let admin: BrokerAdmin
    private let queues: [String]
    private let unroutedQueue: String
    private let unroutedAdvice: String
    private let log: Log
    private var unroutedNotice = UnroutedNotice()
    private var isClosed = false
    /// The statuses from the last refresh; empty before the first refresh and after the loss of the connection. Queues
    /// that are missing or invisible to the user are not included.
    public private(set) var latest: [QueueStatus] = []
    private var readAt: MonotonicTime?

    private var loop: EventLoop { admin.connection.loop }

    /// Creates a monitor of all queues of the topology except streams, which have no depth.
    ///
    /// - Parameters:
    ///   - admin: started and closed by this type.
    ///   - unroutedAdvice: ``unroutedAdvice`` with complete commands.
    public init(_ topology: Topology, admin: BrokerAdmin, unroutedAdvice: String, log: Log) {
        self.admin = admin
        self.unroutedAdvice = unroutedAdvice
        self.log = log
        unroutedQueue = topology.names.unroutedQueue
        queues = topology.queues.filter { !$0.isStream }.map(\.name)
    }

    /// The age of `latest` in seconds; nil before the first refresh and after the loss of the connection.
    public var secondsOld: Int? { readAt.map { Int($0.duration(to: loop.now.monotonic).components.seconds) } }

    /// Refreshes the statuses until `close`. Returns immediately if the monitor is already closed.
    public func run() async {
        guard !isClosed else { return }
        admin.start()
        while !isClosed {
            await read()
            await loop.sleep(for: .seconds(Self.intervalSeconds))
        }
    }

    private func read() async {
        var found: [QueueStatus] = []
        for queue in queues where !isClosed {
            do throws(AMQPError) {
                found.append(try await admin.status(ofQueue: queue))
            } catch  where error.isUnreachable {
                // The depths from before the outage are outdated.
                (latest, readAt) = ([], nil)
                return
            } catch {
                continue
            }
        }
        (latest, readAt) = (found, loop.now.monotonic)
        warnOfUnroutedResults()
    }

    /// Warns if the queue for unrouted results grows. The broker confirms a result even if no other queue receives it.
    /// Only the depth of this queue therefore shows that consumers miss results.
    private func warnOfUnroutedResults() {
        guard let unrouted = latest.first(where: { $0.name == unroutedQueue }),
            unroutedNotice.isDue(unrouted.messages, consumers: unrouted.consumers, now: loop.now.monotonic)
        else { return }
        log.warning(
            .resultsUnrouted,
            [
                .amqpQueue: .string(unrouted.name), .count: .integer(unrouted.messages),
                .error: .string(unroutedAdvice),
            ])
    }

    public func close() async {
        isClosed = true
        await admin.close(deadlineSeconds: Self.closeDeadlineSeconds)
    }
}
