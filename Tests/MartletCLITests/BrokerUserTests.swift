import AMQP
import BrokerTopology
import Delivery
import JSON
import TestKit
import Testing

@testable import Configuration

/// The broker's users, each of which has exactly the permissions for its work.
@Suite(.timeLimit(.minutes(10))) struct BrokerUserTests {
    /// Runs the commands and the clients of each user against a real broker.
    @Test func everyUserHasExactlyItsPermissions() async throws {
        let broker = try await PrivateBroker.shared
        let topology = Topology(names: TopologyNames(prefix: "roles"))
        for permissions in BrokerPermissions.all(topology, worker: "martlet-worker") {
            try await broker.rabbitmqctl("add_user", permissions.user, "word")
            try await broker.rabbitmqctl(
                "set_permissions", permissions.user, permissions.configure, permissions.write, permissions.read)
        }
        func url(_ user: String) -> String { broker.url.replacing("guest:guest", with: "martlet-\(user):word") }
        func martlet(_ user: String, _ arguments: String...) async throws -> (
            exit: ChildExit, output: [String], errors: [String]
        ) {
            try await ChildProcess.run(
                [Products.executable("martlet")] + arguments + ["--url", url(user), "--prefix", "roles"])
        }
        let refused = try await martlet("operator", "topology", "apply", "--without-policies")
        #expect(refused.exit.status == .exited(1) && refused.errors.joined().contains("ACCESS_REFUSED"))
        let applied = try await martlet("topology", "topology", "apply", "--without-policies")
        #expect(applied.exit.status == .exited(0), "\(applied.errors)")

        let alert = Products.file("schemas/examples/valid/alert.json")
        let published = try await martlet("producer", "publish", alert)
        #expect(published.exit.status == .exited(0), "\(published.errors)")
        let direct = try await martlet("producer", "publish", "--queue", "roles.requests", alert)
        #expect(direct.exit.status != .exited(0) && direct.errors.joined().contains("ACCESS_REFUSED"))

        let may = [
            "worker": ["write": ["results", "dead", "quarantine", "wait.5s.1"], "read": ["requests", "quarantine"]],
            "producer": ["write": ["requests"], "read": []], "results": ["write": [], "read": ["results"]],
        ]
        for (user, rights) in may {
            for exchange in ["requests", "results", "dead", "dlx", "quarantine", "wait.5s.1", "unrouted"] {
                let found = try await BrokerClients.withAdmin(url(user)) {
                    try await $0.mayPublish(toExchange: "roles.\(exchange)")
                }
                #expect(found == rights["write"]?.contains(exchange), "\(user): \(exchange)")
            }
            for queue in ["requests", "results", "dead", "quarantine", "unrouted", "wait.5s.1"] {
                let found = try await BrokerClients.withAdmin(url(user)) {
                    try await $0.mayConsume(fromQueue: "roles.\(queue)")
                }
                #expect(found == rights["read"]?.contains(queue), "\(user): \(queue)")
            }
            let byDefault = try await BrokerClients.withAdmin(url(user)) { try await $0.mayPublish(toExchange: "") }
            #expect(!byDefault)
        }

        let body = try FileReader.bytes(of: alert, bytesMax: 1 << 20)
        _ = try await BrokerClients.publish(
            [
                OutgoingMessage(
                    exchange: "roles.dead", routingKey: "dead.apns.x.-", body: body, messageID: "one",
                    headers: [
                        "push-outcome": "rejected", "push-reason-class": "apns", "push-reason-code": "BadTopic",
                    ])
            ], to: broker.url)
        let foreign = try await martlet("producer", "dead-letters", "stats")
        #expect(foreign.exit.status != .exited(0) && foreign.errors.joined().contains("ACCESS_REFUSED"))
        let watched = try await martlet("operator", "watch", "--timeout", "1")
        #expect(watched.exit.status == .exited(0), "\(watched.errors)")
        let redriven = try await martlet("operator", "dead-letters", "redrive", "--all")
        #expect(redriven.exit.status == .exited(0), "\(redriven.errors)")
        let requests = try await BrokerClients.withAdmin(broker.url) { try await $0.status(ofQueue: "roles.requests") }
        #expect(requests.messages == 2, "the producer's request or the redriven request is missing")

        _ = try await BrokerClients.publish(
            [
                OutgoingMessage(
                    exchange: "roles.wait.1h.1", routingKey: "roles.requests", body: body, messageID: "two"),
                OutgoingMessage(
                    exchange: "roles.unrouted", routingKey: "result.accepted.x", body: body, messageID: "three"),
            ], to: broker.url)
        for arguments in [["waits", "bring-back"], ["unrouted", "replay"]] {
            let resent = try await ChildProcess.run(
                [Products.executable("martlet")] + arguments
                    + ["--all", "--json", "--url", url("operator"), "--prefix", "roles"])
            let counts = try JSONDocument(#require(resent.output.last, "\(resent.errors)")).root
            #expect(resent.exit.status == .exited(0) && counts["left"]?.int == 0, "\(resent.output) \(resent.errors)")
        }
    }
}
