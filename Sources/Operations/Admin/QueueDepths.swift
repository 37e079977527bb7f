import AMQP
import Delivery
import EventLoop

/// Asks the broker now and then how much lies in its queues. On the control loop, with a connection of its own.
final class QueueDepths {
    private static let intervalSeconds = 10

    private let loop: EventLoop
    private let admin: BrokerAdmin
    private let queues: [String]
    private var isClosed = false
    /// As the broker said last. Queues that are missing, or may not be looked at, are left out.
    private(set) var latest: [QueueStatus] = []
    private var seenAt: MonotonicTime?

    init(loop: EventLoop, access: BrokerAccess, topology: Topology) {
        self.loop = loop
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
    }

    func close() async {
        isClosed = true
        await admin.close(deadlineSeconds: Lane.closeDeadlineSeconds)
    }
}
