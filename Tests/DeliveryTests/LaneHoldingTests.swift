import AMQP
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Requests that a breaker or a pause holds move to wait queues, at a bounded rate; on virtual time.
@Suite struct LaneHoldingTests {
    @Test func requestsOfARevokedKeyWaitAtTheBroker() throws {
        let scene = try LaneAPNSHarness()
        scene.harness.onLoop { scene.revoke(0) }
        scene.request(300)
        scene.harness.pass(seconds: 20)
        #expect(scene.harness.isReady && scene.waits >= 290 && scene.results == 0)
        #expect(scene.harness.queue().map { $0.ready.count + $0.unsettled } == 0)
        scene.harness.onLoop { scene.restore(0) }
        #expect(scene.harness.run { scene.accepted == 300 })
        #expect(scene.harness.stops == 0 && scene.results == 300)
    }

    @Test func aKeyIsHeldAgainAndAgain() throws {
        let scene = try LaneAPNSHarness()
        for round in 0..<3 {
            scene.harness.onLoop { scene.revoke(0) }
            scene.request(1, from: round)
            try #require(scene.harness.run { !scene.areBreakersClosed })
            scene.harness.onLoop { scene.restore(0) }
            try #require(scene.harness.run { scene.areBreakersClosed && scene.results == round + 1 })
        }
    }

    @Test(arguments: [1, 2]) func theRateIsBoundedForTheWorker(lanes: Int) throws {
        let scene = try LaneAPNSHarness(lanes: lanes, inFlightMax: 1000)
        scene.harness.broker.behaviour.confirmDelayMilliseconds = 0...5
        #expect(scene.harness.pause(.key(SimulatedApps.keyID(0))))
        let count = 2500
        scene.request(count)
        let began = scene.now
        try #require(scene.harness.run { scene.harness.counters.held.value == count })
        let seconds = Double(began.duration(to: scene.now).nanosecondsSaturated) / 1e9
        let burst = HoldPace.perSecondMax * Int(HoldPace.burstMilliseconds) / 1000 + lanes
        #expect(Double(count - burst) / seconds <= Double(HoldPace.perSecondMax))
        #expect(Double(count) / seconds >= 2000)
        #expect(scene.harness.run { scene.waits == count })
        #expect(scene.harness.stops == 0)
    }

    @Test func aHeldRequestThatLosesItsChannelIsDeliveredAgain() throws {
        let scene = try manyHeld()
        scene.harness.onLoop { scene.harness.broker.closeChannels(541, "INTERNAL_ERROR") }
        #expect(scene.harness.pause(.key(SimulatedApps.keyID(0)), false))
        #expect(scene.harness.run { scene.accepted == Self.count })
        #expect(scene.pushes.count == Self.count && scene.results == Self.count)
        scene.harness.pass(seconds: 1)
        #expect(scene.harness.withLane { $0.pipeline.session.consumers[0].bodyBytesInFlight } == 0)
        #expect(scene.harness.counters.inFlight.value == 0)
    }

    @Test func aDrainMovesHeldRequestsAtOnce() throws {
        let scene = try manyHeld()
        let began = scene.now
        scene.harness.drain(deadlineSeconds: 30)
        #expect(scene.harness.run { scene.harness.unfinished == 0 })
        // Without a consumer, the drain waits until the queue has had time to apply the acknowledgements.
        #expect(began.duration(to: scene.now) < .seconds(Lane.settleDeadlineSeconds + 1))
        #expect(scene.harness.counters.held.value == scene.waits)
        #expect(scene.harness.letsGo())
    }

    @Test func aLaneThatLeavesMovesItsHeldRequests() throws {
        let scene = try manyHeld()
        scene.harness.leave()
        #expect(scene.harness.run { scene.harness.unfinished == 0 })
        #expect(scene.waits == Self.count && scene.harness.counters.requeued.value == 0)
        #expect(scene.harness.letsGo())
    }

    /// The broker takes no publishes meanwhile.
    @Test func heldRequestsEndWithTheLane() throws {
        let scene = try manyHeld { $0.raiseAlarm("low on memory") }
        scene.harness.drain(deadlineSeconds: 0)
        #expect(scene.harness.run { scene.harness.unfinished != nil && scene.harness.broker.connectionCount == 0 })
        #expect(scene.harness.letsGo())
    }

    private static let count = 1000

    /// Most of them wait in the lane.
    private func manyHeld(_ prepare: (ScriptedBroker) -> Void = { _ in }) throws -> LaneAPNSHarness {
        let scene = try LaneAPNSHarness(inFlightMax: Self.count)
        #expect(scene.harness.pause(.key(SimulatedApps.keyID(0))))
        scene.harness.onLoop { prepare(scene.harness.broker) }
        scene.request(Self.count)
        try #require(
            scene.harness.run { scene.harness.queue()?.ready.isEmpty == true && scene.harness.counters.held.value > 0 })
        #expect(scene.harness.withLane { $0.pipeline.dispatcher.holds.isWaiting })
        return scene
    }
}
