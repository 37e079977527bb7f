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
        of topology: Topology, at admin: BrokerAdmin, removing former: [Topology.Binding] = []
    ) async throws -> (failures: Int, lines: [String]) {
        var lines: [String] = []
        var declarer = TopologyDeclarer(topology, admin: admin) { lines.append("\($0.result) \($0.subject)") }
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
