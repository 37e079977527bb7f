import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import EventLoop
import JSON
import TestKit
import Testing

@testable import Delivery

/// Requests with the AMQP property `expiration`, on virtual time.
@Suite struct LaneTimeToLiveTests {
    private let fixture: LaneAPNSHarness

    init() throws { fixture = try LaneAPNSHarness() }

    // The broker removes the property when a request leaves a wait queue.
    @Test func aRequestIsNotPushedAgainAfterItsTimeToLive() throws {
        try refuse(1)
        request(1, expiration: "1000")
        try #require(fixture.harness.run { fixture.results == 1 })
        #expect(try outcomes() == ["expired"])
        #expect(fixture.pushes.map(\.status) == [429])
        fixture.harness.pass(seconds: 3600)
        #expect(fixture.pushes.count == 1 && fixture.results == 1)
    }

    @Test func theDeadlineSurvivesWaitsAndEndsThem() throws {
        try refuse(100)
        let start = unixMilliseconds
        request(1, expiration: "60000")
        try #require(fixture.harness.run { fixture.results == 1 })
        #expect(try outcomes() == ["expired"])
        #expect(fixture.pushes.count > 1, "the request was not pushed again")
        #expect(fixture.pushes.allSatisfy { $0.unixMilliseconds < start + 61_000 })
        #expect(Set(fixture.pushes.map(expiration)).count == 1, "the expiration differs between attempts")
    }

    @Test func apnsStoresThePushNoLongerThanTheRequestLives() throws {
        let start = unixMilliseconds / 1000
        request(1, expiration: "60000")
        request(2, #","expiration":\#(start + 10)"#, expiration: "60000")
        request(3, #","expiration":\#(start + 3600)"#, expiration: "60000")
        request(4, #","expiration":0"#, expiration: "60000")
        request(5)
        try #require(fixture.harness.run { fixture.results == 5 })
        let seconds = fixture.pushes.map { expiration($0).map { $0 - start } }
        #expect(seconds[1] == 10 && seconds[3] == -start && seconds[4] == nil)
        for bounded in [seconds[0], seconds[2]] { #expect(60...62 ~= bounded ?? 0) }
    }

    @Test func theTimeBeginsWhenTheProducerPublished() throws {
        let now = UInt64(unixMilliseconds / 1000)
        request(1, expiration: "60000", timestampSeconds: now - 120)
        request(2, expiration: "60000", timestampSeconds: now - 30)
        request(3, expiration: "60000", timestampSeconds: now + 3600)
        request(4, expiration: "60000", timestampSeconds: 0)
        try #require(fixture.harness.run { fixture.results == 4 })
        #expect(try outcomes().sorted() == ["accepted", "accepted", "accepted", "expired"])
        let seconds = fixture.pushes.map { expiration($0).map { $0 - Int64(now) } }
        #expect(30...32 ~= seconds[0] ?? 0 && 60...62 ~= seconds[1] ?? 0 && 60...62 ~= seconds[2] ?? 0)
    }

    @Test func aTimeToLiveThatCannotBeReadSetsNoDeadline() throws {
        for (number, text) in ["", "soon", "-1", "99999999999999999999"].enumerated() {
            request(number, expiration: text)
        }
        try #require(fixture.harness.run { fixture.results == 4 })
        #expect(fixture.pushes.map(expiration) == [nil, nil, nil, nil])
    }

    /// A producer that writes the worker's header can shorten only the life of its own request.
    @Test(arguments: [Int64.min, -1, 0, .max]) func aForgedDeadlineAffectsOnlyItsRequest(_ deadline: Int64) throws {
        fixture.harness.request(
            LaneAPNSHarness.message(1, app: 0),
            headers: ["push-retry-rounds": 1, "push-expires-at": .integer(deadline)])
        request(2)
        try #require(fixture.harness.run { fixture.results == 2 })
        #expect(try outcomes().count { $0 == "accepted" } == (deadline == .max ? 2 : 1))
    }

    private func refuse(_ count: Int) throws {
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: count))
        }
    }

    private func request(
        _ number: Int, _ members: String = "", expiration: String? = nil, timestampSeconds: UInt64? = nil
    ) {
        let body = LaneAPNSHarness.message(number, app: 0).replacing("}}}", with: "}}" + members + "}")
        fixture.harness.onLoop {
            _ = fixture.harness.broker.publish(
                exchange: fixture.harness.names.requestsExchange, routingKey: "-", expiration: expiration,
                timestampSeconds: timestampSeconds, body: Array(body.utf8))
        }
    }

    private var unixMilliseconds: Int64 { fixture.harness.loop.now.unixMilliseconds }

    private func outcomes() throws -> [String] {
        let results = fixture.harness.broker.queue(fixture.harness.names.resultsQueue)?.ready ?? []
        return try results.compactMap { try JSONDocument($0.body).root["outcome"]?.string }
    }

    private func expiration(_ push: LoggedRequest) -> Int64? {
        push.headers.first { $0.name == "apns-expiration" }.flatMap { Int64($0.value) }
    }
}
