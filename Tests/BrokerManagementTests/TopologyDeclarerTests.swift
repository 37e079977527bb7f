import AMQP
import BrokerTopology
import EventLoop
import TestKit
import Testing

@testable import BrokerManagement

/// The steps of a declaration at a scripted broker, without the management API.
@Suite(.timeLimit(.minutes(5))) struct TopologyDeclarerTests {
    private static let topology = Topology(waits: [WaitDelay(seconds: 30)])

    /// Calls `body` with a broker that has nothing but the default exchange, and with an administrator that is
    /// connected to the broker.
    private func withBroker<Result: Sendable>(
        _ body: @escaping @Sendable (ScriptedBroker, BrokerAdmin) async throws -> Result
    ) async throws -> Result {
        try await onEpollLoop { loop in
            let broker = ScriptedBroker(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0))
            try broker.start()
            let url = try AMQPURL("amqp://guest:guest@\(broker.endpoint)")
            let admin = BrokerAdmin(
                loop: loop, connectors: url.endpoints.map { ByteConnector(loop: loop, endpoint: $0) },
                connection: ConnectionConfiguration(url))
            admin.start()
            let result = try await body(broker, admin)
            await admin.close()
            broker.shutDown()
            return result
        }
    }

    private static func steps(
        of topology: Topology, at admin: BrokerAdmin, removing former: [Topology.Binding] = [],
        after: @escaping (String) -> Void = { _ in }
    ) async throws -> (failures: Int, lines: [String]) {
        var lines: [String] = []
        var declarer = TopologyDeclarer(topology, admin: admin) {
            let line = "\($0.result) \($0.subject)"
            lines.append(line)
            after(line)
        }
        let failures = try await declarer.declare(removing: former)
        return (failures, lines)
    }

    @Test func aSecondDeclarationFindsEverything() async throws {
        let runs = try await withBroker { _, admin in
            [try await Self.steps(of: Self.topology, at: admin), try await Self.steps(of: Self.topology, at: admin)]
        }
        let objects =
            Self.topology.exchanges.map { "exchange \($0.name)" } + Self.topology.queues.map { "queue \($0.name)" }
        let bindings = Self.topology.bindings.map { "bound \($0.text)" }
        #expect(runs.map(\.failures) == [0, 0])
        #expect(runs[0].lines == objects.map { "created \($0)" } + bindings)
        // The second run removes the binding of earlier versions, because an existing queue may have the binding.
        #expect(runs[1].lines == objects.map { "present \($0)" } + bindings + ["unbound push.dead from push.dlx"])
    }

    @Test func aRefusedStepIsReportedAndTheOthersFollow() async throws {
        let run = try await withBroker { broker, admin in
            broker.declareExchange("push.results", .fanout)
            return try await Self.steps(of: Self.topology, at: admin)
        }
        #expect(run.failures == 1)
        let failed = run.lines.filter { $0.hasPrefix("failed") }
        #expect(failed.count == 1 && failed[0].contains("inequivalent arg"), "\(failed)")
        #expect(failed[0].hasSuffix("exchange push.results"))
        #expect(run.lines.contains("created queue push.dead"))
    }

    private static let split = Topology(
        names: TopologyNames(requestQueues: ["push.requests.urgent", "push.requests.bulk"]),
        waits: [WaitDelay(seconds: 30)])
    private static let keys = ["urgent", "bulk"]

    /// Returns the number of queues that a request with each key reaches.
    private static func reached(_ broker: ScriptedBroker) -> [Int] {
        keys.map { broker.publish(exchange: "push.requests", routingKey: $0, body: []) }
    }

    // The binding by # stays if a new queue cannot be declared or bound. Beside it, a binding by a key would lead
    // requests to two queues.
    @Test(arguments: ["queue", "binding"])
    func theBindingOfASingleRequestQueueStaysWhileAStepFails(failing: String) async throws {
        let (failed, split, atFirst, atLast) = try await withBroker { broker, admin in
            _ = try await Self.steps(of: Self.topology, at: admin)
            if failing == "queue" {
                broker.declareQueue("push.requests.bulk", arguments: ["x-queue-type": "classic"])
            }
            let failed = try await Self.steps(of: Self.split, at: admin) { line in
                guard failing == "binding", line == "created queue push.requests.bulk" else { return }
                _ = broker.deleteQueue("push.requests.bulk")
            }
            let atFirst = Self.reached(broker)
            _ = broker.deleteQueue("push.requests.bulk")
            return (failed, try await Self.steps(of: Self.split, at: admin), atFirst, Self.reached(broker))
        }
        #expect(failed.failures == 1 && atFirst == [1, 1], "\(failed.lines)")
        let kept = failed.lines.filter { $0.hasPrefix("kept") && $0.hasSuffix("push.requests to push.requests by #") }
        #expect(kept.count == 1 && kept[0].contains("an earlier step failed; fix the cause and run "), "\(kept)")
        #expect(failed.lines.contains("bound push.results to push.results by result.#"))
        let undone = "unbound push.requests.urgent from push.requests by urgent"
        #expect(failed.lines.contains(undone) == (failing == "binding"))
        #expect(split.failures == 0 && atLast == [1, 1], "\(split.lines)")
        #expect(split.lines.contains("unbound push.requests from push.requests by #"))
    }

    @Test func newRequestQueuesAreBoundAlthoughAStepFails() async throws {
        let (failures, reached) = try await withBroker { broker, admin in
            broker.declareExchange("push.results", .fanout)
            return (try await Self.steps(of: Self.split, at: admin).failures, Self.reached(broker))
        }
        #expect(failures == 1 && reached == [1, 1])
    }

    @Test func aWorkersObjectsAreMissingUntilTheyAreDeclared() async throws {
        let missing = try await withBroker { _, admin in
            let required = RequiredTopology(Self.topology)
            let before = try await required.missing(at: admin)
            _ = try await Self.steps(of: Self.topology, at: admin)
            return [before, try await required.missing(at: admin)]
        }
        #expect(
            missing[0].prefix(4) == [
                "queue push.requests", "queue push.quarantine", "queue push.dead", "queue push.unrouted",
            ])
        #expect(missing[0].contains("exchange push.results") && !missing[0].contains("exchange push.requests"))
        #expect(missing[1] == [])
        // Workers with registrations publish a request for each device of a user.
        let withRegistrations = RequiredTopology(Topology(hasRegistrations: true))
        #expect(withRegistrations.exchanges.contains("push.requests"))
        #expect(withRegistrations.exchanges.contains("push.registrations"))
        #expect(withRegistrations.queues.contains("push.registrations"))
        #expect(RequiredTopology.sentence(["a"], advice: "run b") == "a is missing: run b")
        #expect(RequiredTopology.sentence(["a", "b"], advice: "run c") == "a, b are missing: run c")
    }

    // A fault of fleet control must not stop delivery.
    @Test func aWorkerDoesNotWaitForFleetControl() {
        let (without, with) = (RequiredTopology(Topology()), RequiredTopology(Topology(hasFleetControl: true)))
        #expect(with.exchanges == without.exchanges && with.queues == without.queues)
    }

    @Test func fleetControlIsDeclared() async throws {
        let topology = Topology(waits: [], hasFleetControl: true)
        let runs = try await withBroker { _, admin in
            [try await Self.steps(of: topology, at: admin), try await Self.steps(of: topology, at: admin)]
        }
        #expect(runs.map(\.failures) == [0, 0])
        for object in ["exchange push.control", "exchange push.fleet", "queue push.pauses", "queue push.commands"] {
            #expect(runs[0].lines.contains("created \(object)") && runs[1].lines.contains("present \(object)"))
        }
        #expect(runs[0].lines.contains("bound push.commands to push.control by audit.#"))
    }

    // A passive declaration shows no depth of a stream, and a broken stream could delay the answer for other queues.
    @Test func conditionsOfQueuesDoNotIncludeStreams() async throws {
        let topology = Topology(waits: [], hasFleetControl: true)
        let names = try await onEpollLoop { loop in
            let broker = ScriptedBroker(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0))
            try broker.start()
            broker.declareQueue("push.pauses", arguments: ["x-queue-type": "stream"])
            broker.declareQueue("push.dead", arguments: ["x-queue-type": "quorum"])
            let url = try AMQPURL("amqp://guest:guest@\(broker.endpoint)")
            let admin = BrokerAdmin(
                loop: loop, connectors: url.endpoints.map { ByteConnector(loop: loop, endpoint: $0) },
                connection: ConnectionConfiguration(url))
            let conditions = try await TopologyInspector(topology, management: nil, virtualHost: "/")
                .queueConditions(by: admin, deadlineSeconds: 30)
            broker.shutDown()
            return conditions.statuses.map(\.name)
        }
        #expect(names == ["push.dead"])
    }

    @Test func aProbeFindsMissingAndMismatchedObjects() async throws {
        let states = try await withBroker { broker, admin in
            broker.declareQueue("push.results", arguments: ["x-queue-type": "quorum", "x-max-length": 5])
            broker.declareQueue("push.dead", arguments: ["x-queue-type": "classic"])
            let inspector = TopologyInspector(Self.topology, management: nil, virtualHost: "/")
            let findings = try await TopologyProbe(admin: admin, topology: Self.topology, advice: inspector.advice)
                .findings()
            return Dictionary(uniqueKeysWithValues: findings.map { ($0.subject, $0.state) })
        }
        #expect(states["exchange push.results"] == .missing)
        // A policy may bound the queue.
        #expect(states["queue push.results"] == .present)
        #expect(states["queue push.dead"] == .differs)
        #expect(states["bindings, policies and bounds"] == .unseen)
    }
}
