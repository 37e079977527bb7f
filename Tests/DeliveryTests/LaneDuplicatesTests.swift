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

/// What a lane makes of the same message that comes more than once, on virtual time.
@Suite struct LaneDuplicatesTests {
    @Test func itIsPushedOnceAndToldEachTime() throws {
        let scene = try LaneAPNSHarness()
        scene.request(1)
        scene.request(1)
        #expect(scene.harness.run { scene.results == 2 })
        scene.request(1)
        #expect(scene.harness.run { scene.harness.counters.count(of: .accepted) == 3 })
        #expect(scene.pushes.count == 1)
        #expect(scene.harness.counters.duplicates.value == 2)
        let results = try #require(scene.harness.broker.queue(scene.harness.names.resultsQueue)).ready
        let told = try results.map { try JSONDocument($0.body).root }
        #expect(told.map { $0["duplicate"]?.bool ?? false } == [false, true, true])
        #expect(told.first?["attempts"]?.int == 1)
        #expect(told.map { $0["sent_at"] != nil } == [true, false, false])
    }

    @Test func aCopyOfOneThatIsRefusedIsNotPushedEither() throws {
        let scene = try LaneAPNSHarness()
        try scene.harness.onLoop {
            try scene.apns.faults.put(Fault(id: "bad", action: .answer(.refused(.badDeviceToken))))
        }
        scene.request(1)
        scene.request(1)
        #expect(scene.harness.run { scene.harness.counters.count(of: .rejected) == 2 })
        #expect(scene.results == 2 && scene.pushes.count == 1 && scene.harness.deadLetters.count == 1)
        #expect(scene.harness.deadLetters.map(\.properties.messageID) == [LaneAPNSHarness.id(0)])
    }

    /// It waits from when it is known to be a copy. As if another lane had the first.
    @Test func aCopyWhoseFirstEndsInTheSameTurnIsNotPushed() throws {
        let scene = try LaneAPNSHarness()
        try #require(scene.harness.run { scene.harness.isReady })
        let id = try #require(UUIDValue(LaneAPNSHarness.id(0)))
        scene.harness.withLane { [duplicates = scene.harness.duplicates] lane in
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
        scene.request(1)
        #expect(scene.harness.run { scene.results == 1 })
        #expect(scene.pushes.isEmpty && scene.harness.counters.duplicates.value == 1)
    }

    /// What another worker may have sent is said of the copy, though it waits for the sake of the first.
    @Test func aCopyThatMayHaveBeenSentSaysSoAfterItsWait() throws {
        let scene = try LaneAPNSHarness()
        try scene.harness.onLoop {
            try scene.apns.faults.put(Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
        }
        scene.request(1)
        scene.harness.request(LaneAPNSHarness.message(0, app: 0), headers: ["push-possible-duplicate": true])
        #expect(scene.harness.run { scene.results == 2 })
        #expect(scene.waits == 2 && scene.pushes.count == 2)
        let results = try #require(scene.harness.broker.queue(scene.harness.names.resultsQueue)).ready
        let told = try results.map { try JSONDocument($0.body).root["possible_duplicate"]?.bool }
        #expect(told.count { $0 == true } == 1 && told.count { $0 == false } == 1)
    }

    /// A connection to the broker, that for publishing or the other, is lost while one of them is on its way and the
    /// other waits for it.
    @Test(arguments: [0, 1]) func eachIsToldOnceThoughItComesAgain(_ connection: Int) throws {
        let scene = try LaneAPNSHarness()
        // APNs takes long enough that what the lost channel held comes again before its answer.
        try scene.harness.loop.enter {
            try scene.apns.faults.put(Fault(id: "slow", action: .latency(.constant(3000))))
        }
        scene.request(1)
        scene.request(1)
        try #require(scene.harness.run { scene.pushes.count == 1 })
        scene.harness.onLoop { scene.harness.connections[connection].cut() }
        #expect(scene.harness.run { scene.results == 2 && scene.harness.queue()?.unsettled == 0 })
        scene.harness.pass(seconds: 60)
        #expect(scene.results == 2)
        #expect(scene.pushes.count == 1)
    }
}
