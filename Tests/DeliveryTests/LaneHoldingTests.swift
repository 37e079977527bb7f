import AMQP
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Held requests, which a lane moves to wait queues at a bounded rate, on virtual time.
@Suite struct LaneHoldingTests {
    @Test func requestsOfARevokedKeyWaitAtTheBroker() throws {
        let fixture = try LaneAPNSHarness()
        fixture.harness.onLoop { fixture.revoke(0) }
        fixture.request(300)
        fixture.harness.pass(seconds: 20)
        #expect(fixture.harness.isReady && fixture.waits >= 290 && fixture.results == 0)
        #expect(fixture.harness.queue().map { $0.ready.count + $0.unsettled } == 0)
        fixture.harness.onLoop { fixture.restore(0) }
        #expect(fixture.harness.run { fixture.accepted == 300 })
        #expect(fixture.harness.stops == 0 && fixture.results == 300)
    }

    @Test func aKeyIsHeldRepeatedly() throws {
        let fixture = try LaneAPNSHarness()
        for round in 0..<3 {
            fixture.harness.onLoop { fixture.revoke(0) }
            fixture.request(1, from: round)
            try #require(fixture.harness.run { !fixture.areBreakersClosed })
            fixture.harness.onLoop { fixture.restore(0) }
            try #require(fixture.harness.run { fixture.areBreakersClosed && fixture.results == round + 1 })
        }
    }

    @Test(arguments: [1, 2]) func theRateIsBoundedForTheWorker(lanes: Int) throws {
        let fixture = try LaneAPNSHarness(lanes: lanes, inFlightMax: 1000)
        fixture.harness.broker.behavior.confirmDelayMilliseconds = 0...5
        #expect(fixture.harness.pause(.key(SimulatedApps.keyID(0))))
        let count = 2500
        fixture.request(count)
        let began = fixture.now
        try #require(fixture.harness.run { fixture.harness.counters.held.value == count })
        let seconds = Double(began.duration(to: fixture.now).nanosecondsSaturated) / 1e9
        let burst = HoldPace.perSecondMax * Int(HoldPace.burstMilliseconds) / 1000 + lanes
        #expect(Double(count - burst) / seconds <= Double(HoldPace.perSecondMax))
        #expect(Double(count) / seconds >= 2000)
        #expect(fixture.harness.run { fixture.waits == count })
        #expect(fixture.harness.stops == 0)
    }

    @Test func aHeldRequestThatLosesItsChannelIsDeliveredAgain() throws {
        let fixture = try manyHeld()
        fixture.harness.onLoop { fixture.harness.broker.closeChannels(541, "INTERNAL_ERROR") }
        #expect(fixture.harness.pause(.key(SimulatedApps.keyID(0)), false))
        #expect(fixture.harness.run { fixture.accepted == Self.count })
        #expect(fixture.pushes.count == Self.count && fixture.results == Self.count)
        fixture.harness.pass(seconds: 1)
        #expect(fixture.harness.withLane { $0.pipeline.session.consumers[0].bodyBytesInFlight } == 0)
        #expect(fixture.harness.counters.inFlight.value == 0)
    }

    @Test func aDrainMovesHeldRequestsImmediately() throws {
        let fixture = try manyHeld()
        let began = fixture.now
        fixture.harness.drain(deadlineSeconds: 30)
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 })
        // The drain waits until the queue has had time to apply the acknowledgments.
        #expect(began.duration(to: fixture.now) < .seconds(Lane.settleDeadlineSeconds + 1))
        #expect(fixture.harness.counters.held.value == fixture.waits)
        #expect(fixture.harness.releasesLanes())
    }

    @Test func aLaneThatLeavesMovesItsHeldRequests() throws {
        let fixture = try manyHeld()
        fixture.harness.leave()
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 })
        #expect(fixture.waits == Self.count && fixture.harness.counters.requeued.value == 0)
        #expect(fixture.harness.releasesLanes())
    }

    // The broker blocks publishes during the test.
    @Test func heldRequestsEndWithTheLane() throws {
        let fixture = try manyHeld { $0.raiseAlarm("low on memory") }
        fixture.harness.drain(deadlineSeconds: 0)
        #expect(
            fixture.harness.run { fixture.harness.unfinished != nil && fixture.harness.broker.connectionCount == 0 })
        #expect(fixture.harness.releasesLanes())
    }

    private static let count = 1000

    /// Returns a harness with held requests, some of which still wait in the lane.
    private func manyHeld(_ prepare: (ScriptedBroker) -> Void = { _ in }) throws -> LaneAPNSHarness {
        let fixture = try LaneAPNSHarness(inFlightMax: Self.count)
        #expect(fixture.harness.pause(.key(SimulatedApps.keyID(0))))
        fixture.harness.onLoop { prepare(fixture.harness.broker) }
        fixture.request(Self.count)
        try #require(
            fixture.harness.run {
                fixture.harness.queue()?.ready.isEmpty == true && fixture.harness.counters.held.value > 0
            })
        #expect(fixture.harness.withLane { $0.pipeline.dispatcher.holds.isWaiting })
        return fixture
    }
}
