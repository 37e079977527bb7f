import AMQP
import AdminHTTP
import Delivery
import EventLoop
import HTTPClient
import TestKit
import Testing
import Threads

@testable import Operations

/// What answers where the management API should be.
@Suite struct ManagementAPITests {
    /// What is seen of a topology where it is answered so by path.
    private func picture(
        onWait: @escaping @Sendable (String) -> Void = { _ in },
        of answer: @escaping @Sendable ([String]) -> AdminResponse
    ) async throws -> Result<BrokerPicture, ManagementAPI.Failure> {
        try await onEpollLoop { loop in
            let server = try AdminServer(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0)) { exchange in
                exchange.answer(answer(exchange.request.path))
            }
            defer { server.close() }
            var broker = Configuration.Broker(url: try AMQPURL("amqp://rabbit"))
            broker.management = try HTTPURL("http://ops:hunter2@127.0.0.1:\(server.endpoint.port)")
            let access = try #require(ManagementAccess(broker))
            return await access.settledPicture(
                of: Configuration.topology(broker, .init(), .init(), nil), onWait: onWait)
        }
    }

    /// Why nothing is seen where everything is answered so.
    private func failure(of answer: AdminResponse) async throws -> String {
        guard case .failure(let failure) = try await picture(of: { _ in answer }) else { return "" }
        return String(failure.message.drop { $0 != " " }.dropFirst())
    }

    /// `management.disable_stats`, as RabbitMQ 3.10 answers.
    @Test func disabledStatisticsAreNotWaitedFor() async throws {
        let notices = Notices()
        let start = ContinuousClock.now
        let picture = try await picture(onWait: notices.add) { path in
            switch path {
            case ["api", "overview"]: .json(Array(#"{"rabbitmq_version":"4.1.2","disable_stats":true}"#.utf8))
            case ["api", "queues", "/", "push.dead"]: .json(Array(#"{"arguments":{}}"#.utf8))
            case let path where path[1] == "policies": .error(401, "no")
            default: .error(404, "no")
            }
        }.get()
        #expect(!picture.showsStatistics && notices.all == [])
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    @Test func whoWaitsForStatisticsSaysSo() async throws {
        let notices = Notices()
        let asked = Notices()
        let picture = try await picture(onWait: notices.add) { path in
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
        #expect(picture.deliveryLimit(of: "push.dead") == DeliveryLimit.none)
        let sentences = notices.all
        #expect(sentences.count == 1)
        #expect(
            sentences.first?.hasPrefix("waiting up to 15 s for http://127.0.0.1") == true
                && sentences.first?.hasSuffix("may still show the delivery limits before policy push-deliveries")
                    == true,
            "\(sentences)")
    }

    @Test func whoMayNotSeePoliciesSeesTheRest() async throws {
        let picture = try await picture { path in
            switch path {
            case ["api", "overview"]: .json(Array(#"{"rabbitmq_version":"4.1.2"}"#.utf8))
            case ["api", "exchanges", "/", "push.dead"]: .json(Array(#"{"type":"topic"}"#.utf8))
            case let path where path[1] == "policies": .error(401, "no")
            default: .error(404, "no")
            }
        }.get()
        #expect(picture.exchanges == ["push.dead": .init(kind: "topic")] && !picture.seesPolicies)
    }

    @Test func whatIsNotTheManagementIsToldSo() async throws {
        let strange = "what answers there is not RabbitMQ's management"
        let deep = String(repeating: "[", count: 100_000)
        for body in ["", "{}", "<html>", "[]", #"{"rabbitmq_version":4}"#, deep] {
            #expect(try await failure(of: .json(Array(body.utf8))) == strange)
        }
    }

    @Test func aRefusalNamesTheUserAndNotThePassword() async throws {
        #expect(
            try await failure(of: .error(401, "no")) == "the login of user ops is refused, or it has no tag management")
        #expect(try await failure(of: .error(403, "no")) == "user ops may not see this")
        #expect(try await failure(of: .error(500, "no")) == "it answers 500")
    }

    /// `@unchecked Sendable`: guarded by the lock.
    private final class Notices: @unchecked Sendable {
        private let lock = ThreadLock()
        private var sentences: [String] = []

        @Sendable func add(_ sentence: String) { lock.withLock { sentences.append(sentence) } }

        var all: [String] { lock.withLock { sentences } }
    }
}
