public import AMQP
public import BrokerTopology
import EventLoop
public import Telemetry

/// A wait until the broker is reachable and has every object that a worker needs. Logs an unreachable broker and
/// missing objects.
///
/// `@unchecked Sendable`: only the thread of one loop uses the object.
public final class TopologyReadiness: @unchecked Sendable {
    public static let checkIntervalSeconds = 3
    private static let closeDeadlineSeconds = 1

    private let admin: BrokerAdmin
    private let required: RequiredTopology
    private let place: String
    private let advice: String
    private let log: Log
    private var notice = ReadinessNotice()
    private var isClosed = false
    /// The reason for the wait, as a sentence for an operator.
    public private(set) var reason: String

    private var loop: EventLoop { admin.connection.loop }

    /// Creates a wait, which begins with `waitUntilComplete`.
    ///
    /// - Parameters:
    ///   - admin: started and closed by this type.
    ///   - place: the broker's hosts and ports, for log lines and `reason`.
    ///   - advice: the command that declares the topology.
    public init(_ topology: Topology, admin: BrokerAdmin, place: String, advice: String, log: Log) {
        required = RequiredTopology(topology)
        self.admin = admin
        self.place = place
        self.advice = advice
        self.log = log
        reason = "the broker at \(place) has not answered yet"
    }

    public func waitUntilComplete() async {
        admin.start(Failures(self))
        while !isClosed {
            do throws(AMQPError) {
                try await admin.waitUntilReady(deadlineSeconds: Self.checkIntervalSeconds)
                write(notice.reached(now: loop.now.monotonic))
                let missing = try await required.missing(at: admin)
                if !missing.isEmpty { reason = RequiredTopology.sentence(missing, advice: advice) }
                write(notice.checked(missing: missing, now: loop.now.monotonic))
                if missing.isEmpty { break }
            } catch {
                failed(error)
            }
            await loop.sleep(for: .seconds(Self.checkIntervalSeconds))
        }
        await close()
    }

    private final class Failures: SessionHandler {
        private let readiness: TopologyReadiness

        init(_ readiness: TopologyReadiness) { self.readiness = readiness }

        override func statusChanged(_ status: BrokerStatus) {
            if case .waiting(let error, _) = status { readiness.failed(error) }
        }
    }

    /// Cancels the wait. `waitUntilComplete` returns before its next check.
    public func close() async {
        isClosed = true
        await admin.close(deadlineSeconds: Self.closeDeadlineSeconds)
    }

    private func failed(_ error: AMQPError) {
        guard !isClosed else { return }
        reason = "the broker at \(place) cannot be reached: \(error)"
        write(notice.cannotReach(now: loop.now.monotonic), error)
    }

    private func write(_ line: ReadinessNotice.Line?, _ error: AMQPError? = nil) {
        switch line {
        case .unreachable:
            log.warning(
                .brokerUnreachable,
                [.amqpHost: .string(place), .error: error.map { .describing($0) }])
        case .reached(let duration):
            log.info(
                .brokerReached, [.amqpHost: .string(place), .durationMilliseconds: .milliseconds(duration)])
        case .missing(let names):
            log.warning(
                .topologyIncomplete, [.error: .string(RequiredTopology.sentence(names, advice: advice))])
        case .complete(let duration):
            log.info(.topologyComplete, [.durationMilliseconds: .milliseconds(duration)])
        case nil: break
        }
    }
}
