import AMQP
import Delivery
import EventLoop
import Telemetry

/// Waits until the broker can be reached and all that the worker needs is there, and says what it waits for.
///
/// `@unchecked Sendable`: belongs to one loop and is used on its thread only.
final class TopologyWait: @unchecked Sendable {
    static let checkIntervalSeconds = 3
    private static let answerDeadlineSeconds = 15

    private let loop: EventLoop
    private let admin: BrokerAdmin
    private let check: TopologyCheck
    private let place: String
    private let log: Log
    private var startUp = StartUp()
    private var isClosed = false
    /// What it waits for.
    private(set) var reason: String

    private let commands: CommandAdvice

    /// - Parameter commands: completes what an operator is advised to run.
    init(loop: EventLoop, access: BrokerAccess, topology: Topology, commands: CommandAdvice, log: Log) {
        self.commands = commands
        self.loop = loop
        self.log = log
        place = access.place
        reason = "the broker at \(place) has not answered yet"
        check = TopologyCheck(topology)
        admin = access.admin(
            named: "martlet worker start", on: loop, deadlineSeconds: Self.answerDeadlineSeconds)
    }

    func untilComplete() async {
        admin.start(Failures(self))
        while !isClosed {
            do throws(AMQPError) {
                try await admin.waitUntilReady(deadlineSeconds: Self.checkIntervalSeconds)
                say(startUp.reached(now: loop.now.monotonic))
                let missing = try await check.missing(at: admin)
                if !missing.isEmpty { reason = Self.sentence(missing, commands) }
                say(startUp.checked(missing: missing, now: loop.now.monotonic))
                if missing.isEmpty { break }
            } catch {
                failed(error)
            }
            await loop.sleep(for: .seconds(Self.checkIntervalSeconds))
        }
        await close()
    }

    private final class Failures: SessionHandler {
        private let wait: TopologyWait

        init(_ wait: TopologyWait) { self.wait = wait }

        override func statusChanged(_ status: BrokerStatus) {
            if case .waiting(let error, _) = status { wait.failed(error) }
        }
    }

    /// Ends the wait, which may not return then.
    func close() async {
        isClosed = true
        await admin.close(deadlineSeconds: Lane.closeDeadlineSeconds)
    }

    private func failed(_ error: AMQPError) {
        guard !isClosed else { return }
        reason = "the broker at \(place) cannot be reached: \(error)"
        say(startUp.cannotReach(now: loop.now.monotonic), error)
    }

    static func sentence(_ missing: [String], _ commands: CommandAdvice) -> String {
        "\(missing.joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") missing: "
            + commands.completed(TopologyAdvice.apply)
    }

    private func say(_ line: StartUp.Line?, _ error: AMQPError? = nil) {
        switch line {
        case .unreachable:
            log.warning(
                .brokerUnreachable,
                [.amqpHost: .string(place), .error: error.map { .describing($0) }])
        case .reached(let duration):
            log.info(
                .brokerReached, [.amqpHost: .string(place), .durationMilliseconds: .milliseconds(duration)])
        case .missing(let names):
            log.warning(.topologyIncomplete, [.error: .string(Self.sentence(names, commands))])
        case .complete(let duration):
            log.info(.topologyComplete, [.durationMilliseconds: .milliseconds(duration)])
        case nil: break
        }
    }
}
