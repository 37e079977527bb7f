import AdminHTTP
import BrokerTopology
import EventLoop
import HTTPClient
import TestKit
import Testing
import Threads

@testable import BrokerManagement

/// Responses of the management API and of other servers at its address.
@Suite struct ManagementClientTests {
    /// Returns the snapshot of a topology, read from a server that answers each path with `answer`.
    private func snapshot(
        onWait: @escaping @Sendable (String) -> Void = { _ in },
        of answer: @escaping @Sendable ([String]) -> AdminResponse
    ) async throws -> Result<BrokerSnapshot, ManagementClient.Failure> {
        try await onEpollLoop { loop in
            let server = try AdminServer(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0)) { exchange in
                exchange.answer(answer(exchange.request.path))
            }
            defer { server.close() }
            let access = ManagementAccess(
                url: try HTTPURL("http://ops:hunter2@127.0.0.1:\(server.endpoint.port)"), virtualHost: "/",
                authoritiesPEM: nil)
            return await access.settledSnapshot(of: Topology(), onWait: onWait)
        }
    }

    /// Returns the failure's message, without its first word, if every request gets this response; empty if nothing
    /// fails.
    private func failure(of answer: AdminResponse) async throws -> String {
        guard case .failure(let failure) = try await snapshot(of: { _ in answer }) else { return "" }
        return String(failure.message.drop { $0 != " " }.dropFirst())
    }

    // With `management.disable_stats`, RabbitMQ omits a queue's effective policy.
    @Test func disabledStatisticsAreNotWaitedFor() async throws {
        let notices = Notices()
        let snapshot = try await snapshot(onWait: notices.add) { path in
            switch path {
            case ["api", "overview"]: .json(Array(#"{"rabbitmq_version":"4.1.2","disable_stats":true}"#.utf8))
            case ["api", "queues", "/", "push.dead"]: .json(Array(#"{"arguments":{}}"#.utf8))
            case let path where path[1] == "policies": .error(401, "no")
            default: .error(404, "no")
            }
        }.get()
        #expect(!snapshot.showsStatistics && notices.all == [])
    }

    @Test func aWaitForStatisticsIsReported() async throws {
        let notices = Notices()
        let asked = Notices()
        let snapshot = try await snapshot(onWait: notices.add) { path in
            switch path {
            case ["api", "overview"]: return .json(Array(#"{"rabbitmq_version":"4.1.2"}"#.utf8))
            case ["api", "queues", "/", "push.dead"]:
                asked.add("asked")
                let policy = asked.all.count < 3 ? "" : #","effective_policy_definition":{"delivery-limit":-1}"#
                return .json(Array("{\"arguments\":{}\(policy)}".utf8))
            case let path where path[1] == "policies": return .error(401, "no")
            default: return .error(404, "no")
            }
        }.get()
        #expect(snapshot.deliveryLimit(of: "push.dead") == DeliveryLimit.none)
        let sentences = notices.all
        #expect(sentences.count == 1)
        #expect(
            sentences.first?.hasPrefix("waiting up to 15 s for http://127.0.0.1") == true
                && sentences.first?.hasSuffix(
                    "may still show the delivery limits from before policy push-deliveries")
                    == true,
            "\(sentences)")
    }

    @Test func aUserWithoutPoliciesSeesTheRest() async throws {
        let snapshot = try await snapshot { path in
            switch path {
            case ["api", "overview"]: .json(Array(#"{"rabbitmq_version":"4.1.2"}"#.utf8))
            case ["api", "exchanges", "/", "push.dead"]: .json(Array(#"{"type":"topic"}"#.utf8))
            case let path where path[1] == "policies": .error(401, "no")
            default: .error(404, "no")
            }
        }.get()
        #expect(snapshot.exchanges == ["push.dead": .init(kind: "topic")] && !snapshot.seesPolicies)
    }

    @Test func anotherServerIsReported() async throws {
        let other = "the answer is not from RabbitMQ's management API"
        let deep = String(repeating: "[", count: 100_000)
        for body in ["", "{}", "<html>", "[]", #"{"rabbitmq_version":4}"#, deep] {
            #expect(try await failure(of: .json(Array(body.utf8))) == other)
        }
    }

    @Test func aRefusalNamesTheUserAndNotThePassword() async throws {
        #expect(
            try await failure(of: .error(401, "no"))
                == "login of user ops refused, or the user lacks the tag management")
        #expect(try await failure(of: .error(403, "no")) == "user ops lacks the permission to read this object")
        #expect(try await failure(of: .error(500, "no")) == "unexpected HTTP status 500")
    }

    /// The recorded notices. The class is `@unchecked Sendable`, because the lock guards `sentences`.
    private final class Notices: @unchecked Sendable {
        private let lock = ThreadLock()
        private var sentences: [String] = []

        @Sendable func add(_ sentence: String) { lock.withLock { sentences.append(sentence) } }

        var all: [String] { lock.withLock { sentences } }
    }
}
