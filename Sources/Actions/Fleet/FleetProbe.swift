package import AMQP
package import ControlProtocol
package import Crypto
package import Delivery
package import EventLoop
import Text

/// A probe of open breakers in all workers of a fleet.
///
/// Workers otherwise probe a breaker after growing waits. The probe of a breaker of a key, certificate or topic also
/// needs a request. A repeated probe is harmless.
package struct FleetProbe: Sendable, Hashable {
    /// Maximum wait for the replies of the workers.
    private static let repliesMillisecondsMax = 2000
    /// Maximum wait for the breakers to close.
    package static let closeSecondsMax = 10
    /// Maximum number of requests that each attempt returns from the wait queues.
    private static let returnedMax = 256
    /// The wait before further requests return, because a lane with an open breaker has received none.
    private static let returnMilliseconds = 3000

    package var scope: ProbeScope
    package var why: String

    package init(_ scope: ProbeScope, why: String) {
        self.scope = scope
        self.why = why
    }

    /// The equivalent command, without the options of the broker.
    package var commandLine: String { "martlet probe \(Self.option(scope)) \(Self.option("why", why))" }

    private static func option(_ scope: ProbeScope) -> String {
        switch scope {
        case .part(.everything): "--all"
        case .part(.key(let id)): option("key", id)
        case .part(.certificate(let name)): option("certificate", name)
        case .part(.topic(let topic)): option("topic", topic)
        case .endpoint(let authority): option("endpoint", authority)
        case .store: "--store"
        }
    }

    /// Returns an option with a value, which may look like an option.
    private static func option(_ name: String, _ value: String) -> String {
        "--\(name)\(value.hasPrefix("-") ? "=" : " ")\(Shell.word(value))"
    }
}

extension FleetProbe {
    /// The open breakers of the scope, as the workers report them.
    package struct Plan: Sendable, Hashable {
        /// The breakers, by worker.
        package var breakers: [String: [WorkerStatus.OpenBreaker]] = [:]
        /// The workers that report.
        package var workers: Set<String> = []

        package init() {}

        package var breakerCount: Int { breakers.values.reduce(0) { $0 + $1.count } }

        /// The reason codes of requests that the breakers hold.
        fileprivate var codes: Set<String> { Set(breakers.values.joined().map { MessageHeaderName.heldCode($0.code) }) }

        /// The apps of the breakers; empty if a breaker names none or not all.
        fileprivate var apps: Set<String> {
            let all = breakers.values.joined()
            guard !all.contains(where: { $0.apps.isEmpty || $0.apps.count >= LaneStatus.OpenBreaker.appsMax }) else {
                return []
            }
            return Set(all.flatMap(\.apps))
        }
    }

    package func plan(_ view: FleetView, at now: MonotonicTime) -> Plan {
        var plan = Plan()
        for worker in view.workers(at: now) where worker.presence(at: now) == .reporting {
            plan.workers.insert(worker.report.worker)
            let breakers = worker.report.status.breakers.filter { scope.contains(route: $0.route) }
            if !breakers.isEmpty { plan.breakers[worker.report.worker] = breakers }
        }
        return plan
    }

    package struct Outcome: Sendable, Hashable {
        /// The number of probed breakers of all lanes, by worker that has replied.
        package var probed: [String: Int] = [:]
        /// The workers that have not replied, or could not probe all breakers, with the reason.
        package var failures: [String: String] = [:]
        /// The number of requests that were returned from the wait queues.
        package var returned = 0
        /// The breakers that are still open, by worker.
        package var open: [String: [WorkerStatus.OpenBreaker]] = [:]

        package var probedCount: Int { probed.values.reduce(0, +) }
        package var isDone: Bool { failures.isEmpty && open.isEmpty }
        package var hasReplies: Bool { !probed.isEmpty || !failures.isEmpty }

        package var summary: String {
            let returned = returned > 0 ? ", returned \(returned.counted("held request"))" : ""
            return "probed \(probedCount.counted("breaker")) in \(probed.count.counted("worker"))\(returned)"
        }
    }

    /// Probes the breakers. Moves a few held requests to their request queues, to probe the breakers of keys,
    /// certificates and topics. Waits until no worker reports an open breaker of the scope, ``closeSecondsMax`` seconds
    /// at most. Does not wait if no breaker was probed.
    ///
    /// - Parameters:
    ///   - session: an open session that has collected reports.
    ///   - operatorName: the operator.
    ///   - id: the identity of the command. Workers run a command with a known id once.
    ///   - waitQueues: the wait queues of the topology.
    package func run(
        _ session: FleetSession, by operatorName: String, id: UUIDValue, waitQueues: [String]
    ) async throws(AMQPError) -> Outcome {
        let end = session.loop.now.monotonic + .seconds(Self.closeSecondsMax)
        let plan = plan(session.view, at: session.loop.now.monotonic)
        let command = FleetCommand(id: id, by: operatorName, why: why, action: .probe(scope))
        let replies = try await session.send(
            command, awaiting: plan.workers, milliseconds: Self.repliesMillisecondsMax)
        var outcome = Outcome()
        for worker in plan.workers.union(replies.keys) { outcome.add(replies[worker], of: worker) }
        guard outcome.probedCount > 0 else { return outcome }
        try await session.requestReports(by: operatorName, seconds: Self.closeSecondsMax)
        try await close(plan, session, waitQueues, until: end, &outcome)
        outcome.open = self.plan(session.view, at: session.loop.now.monotonic).breakers
        return outcome
    }

    private func close(
        _ plan: Plan, _ session: FleetSession, _ waitQueues: [String], until end: MonotonicTime,
        _ outcome: inout Outcome
    ) async throws(AMQPError) {
        let held = HeldRequestReturn(session: session, queues: waitQueues, codes: plan.codes, apps: plan.apps)
        func isClosed() -> Bool { self.plan(session.view, at: session.loop.now.monotonic).breakers.isEmpty }
        while !isClosed(), session.loop.now.monotonic < end {
            // The broker delivers requests to the consumers in turn.
            let count = min(session.view.consumers(at: session.loop.now.monotonic), Self.returnedMax)
            outcome.returned += try await held.run(count)
            let rest = session.loop.now.monotonic.duration(to: end)
            await session.wait(
                milliseconds: min(Self.returnMilliseconds, max(0, Int(rest / .milliseconds(1)))), until: isClosed)
        }
    }
}

extension FleetProbe.Outcome {
    fileprivate mutating func add(_ reply: FleetReply?, of worker: String) {
        guard let reply else {
            failures[worker] = "no reply"
            return
        }
        probed[worker] = reply.probed ?? 0
        guard reply.outcome != .done else { return }
        failures[worker] = reply.sentence ?? reply.outcome.rawValue
    }
}
