import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import JSON
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Requests that a lane receives more than once, on virtual time.
@Suite struct LaneDuplicatesTests {
    @Test func aRequestIsPushedOnceAndReportedEachTime() throws {
        let fixture = try LaneAPNSHarness()
        fixture.request(1)
        fixture.request(1)
        #expect(fixture.harness.run { fixture.results == 2 })
        fixture.request(1)
        #expect(fixture.harness.run { fixture.harness.counters.count(of: .accepted) == 3 })
        #expect(fixture.pushes.count == 1)
        #expect(fixture.harness.counters.duplicates.value == 2)
        let results = try #require(fixture.harness.broker.queue(fixture.harness.names.resultsQueue)).ready
        let decoded = try results.map { try JSONDocument($0.body).root }
        #expect(decoded.map { $0["duplicate"]?.bool ?? false } == [false, true, true])
        #expect(decoded.first?["attempts"]?.int == 1)
        #expect(decoded.map { $0["sent_at"] != nil } == [true, false, false])
    }

    @Test func aDuplicateOfARefusedRequestIsNotPushed() throws {
        let fixture = try LaneAPNSHarness()
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "bad", action: .answer(.refused(.badDeviceToken))))
        }
        fixture.request(1)
        fixture.request(1)
        #expect(fixture.harness.run { fixture.harness.counters.count(of: .rejected) == 2 })
        #expect(fixture.results == 2 && fixture.pushes.count == 1 && fixture.harness.deadLetters.count == 1)
        #expect(fixture.harness.deadLetters.map(\.properties.messageID) == [LaneAPNSHarness.id(0)])
    }

    // The memory behaves as if another lane had the first delivery. This delivery ends in the iteration in which this
    // lane receives the duplicate.
    @Test func aDuplicateWhoseFirstEndsInTheSameIterationIsNotPushed() throws {
        let fixture = try LaneAPNSHarness()
        try #require(fixture.harness.run { fixture.harness.isReady })
        let id = try #require(UUIDValue(LaneAPNSHarness.id(0)))
        fixture.harness.withLane { [duplicates = fixture.harness.duplicates] lane in
            let loop = lane.loop
            lane.pipeline.session.consumers[0].wrapHandler { inner in
                var key: DeduplicationKey?
                return DeliveryTap(
                    inner,
                    before: { delivery in
                        let first = duplicates.key(id: id, of: delivery.content)
                        _ = duplicates.begin(first, DuplicateCandidate(channel: duplicates.openChannel()))
                        key = first
                    },
                    after: {
                        guard let key else { return }
                        duplicates.settle(key, .conclude(FinalOutcome(outcome: .unknown)), now: loop.now.monotonic)
                    })
            }
        }
        fixture.request(1)
        #expect(fixture.harness.run { fixture.results == 1 })
        #expect(fixture.pushes.isEmpty && fixture.harness.counters.duplicates.value == 1)
    }

    /// A duplicate that another worker may have pushed is marked, although the first delivery causes its wait.
    @Test func aPossiblyPushedDuplicateIsMarkedAfterItsWait() throws {
        let fixture = try LaneAPNSHarness()
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
        }
        fixture.request(1)
        fixture.harness.request(LaneAPNSHarness.message(0, app: 0), headers: ["push-possible-duplicate": true])
        #expect(fixture.harness.run { fixture.results == 2 })
        #expect(fixture.waits == 2 && fixture.pushes.count == 2)
        let results = try #require(fixture.harness.broker.queue(fixture.harness.names.resultsQueue)).ready
        let decoded = try results.map { try JSONDocument($0.body).root["possible_duplicate"]?.bool }
        #expect(decoded.count { $0 == true } == 1 && decoded.count { $0 == false } == 1)
    }

    // The publishing or the consuming connection is lost while one delivery is in flight and the other delivery waits
    // for its outcome.
    @Test(arguments: [0, 1]) func eachRequestIsReportedOnceDespiteRedelivery(_ connection: Int) throws {
        let fixture = try LaneAPNSHarness()
        // The broker redelivers the requests of the lost channel before the answer of APNs arrives.
        try fixture.harness.loop.enter {
            try fixture.apns.faults.put(Fault(id: "slow", action: .latency(.constant(3000))))
        }
        fixture.request(1)
        fixture.request(1)
        try #require(fixture.harness.run { fixture.pushes.count == 1 })
        fixture.harness.onLoop { fixture.harness.connections[connection].cut() }
        #expect(fixture.harness.run { fixture.results == 2 && fixture.harness.queue()?.unsettled == 0 })
        fixture.harness.pass(seconds: 60)
        #expect(fixture.results == 2)
        #expect(fixture.pushes.count == 1)
    }
}
