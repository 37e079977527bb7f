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
        scene.rig.onLoop { scene.revoke(0) }
        scene.request(300)
        scene.rig.pass(seconds: 20)
        #expect(scene.rig.isReady && scene.waits >= 290 && scene.results == 0)
        #expect(scene.rig.queue().map { $0.ready.count + $0.unsettled } == 0)
        scene.rig.onLoop { scene.restore(0) }
        #expect(scene.rig.run { scene.accepted == 300 })
        #expect(scene.rig.stops == 0 && scene.results == 300)
    }

    @Test func aKeyIsHeldAgainAndAgain() throws {
        let scene = try LaneAPNSHarness()
        for round in 0..<3 {
            scene.rig.onLoop { scene.revoke(0) }
            scene.request(1, from: round)
            try #require(scene.rig.run { !scene.areBreakersClosed })
            scene.rig.onLoop { scene.restore(0) }
            try #require(scene.rig.run { scene.areBreakersClosed && scene.results == round + 1 })
        }
    }

    @Test(arguments: [1, 2]) func theRateIsBoundedForTheWorker(lanes: Int) throws {
        let scene = try LaneAPNSHarness(lanes: lanes, inFlightMax: 1000)
        scene.rig.broker.behaviour.confirmDelayMilliseconds = 0...5
        #expect(scene.rig.pause(.key(SimulatedApps.keyID(0))))
        let count = 2500
        scene.request(count)
        let began = scene.now
        try #require(scene.rig.run { scene.rig.counters.held.value == count })
        let seconds = Double(began.duration(to: scene.now).nanosecondsSaturated) / 1e9
        let burst = HoldPace.perSecondMax * Int(HoldPace.burstMilliseconds) / 1000 + lanes
        #expect(Double(count - burst) / seconds <= Double(HoldPace.perSecondMax))
        #expect(Double(count) / seconds >= 2000)
        #expect(scene.rig.run { scene.waits == count })
        #expect(scene.rig.stops == 0)
    }

    @Test func aHeldRequestThatLosesItsChannelIsDeliveredAgain() throws {
        let scene = try manyHeld()
        scene.rig.onLoop { scene.rig.broker.closeChannels(541, "INTERNAL_ERROR") }
        #expect(scene.rig.pause(.key(SimulatedApps.keyID(0)), false))
        #expect(scene.rig.run { scene.accepted == Self.count })
        #expect(scene.pushes.count == Self.count && scene.results == Self.count)
        scene.rig.pass(seconds: 1)
        #expect(scene.rig.withLane { $0.pipeline.session.consumers[0].bodyBytesInFlight } == 0)
        #expect(scene.rig.counters.inFlight.value == 0)
    }

    @Test func aDrainMovesHeldRequestsAtOnce() throws {
        let scene = try manyHeld()
        let began = scene.now
        scene.rig.drain(deadlineSeconds: 30)
        #expect(scene.rig.run { scene.rig.unfinished == 0 })
        // Without a consumer, the drain waits until the queue has had time to apply the acknowledgements.
        #expect(began.duration(to: scene.now) < .seconds(Lane.settleDeadlineSeconds + 1))
        #expect(scene.rig.counters.held.value == scene.waits)
        #expect(scene.rig.letsGo())
    }

    @Test func aLaneThatLeavesMovesItsHeldRequests() throws {
        let scene = try manyHeld()
        scene.rig.leave()
        #expect(scene.rig.run { scene.rig.unfinished == 0 })
        #expect(scene.waits == Self.count && scene.rig.counters.requeued.value == 0)
        #expect(scene.rig.letsGo())
    }

    /// The broker takes no publishes meanwhile.
    @Test func heldRequestsEndWithTheLane() throws {
        let scene = try manyHeld { $0.raiseAlarm("low on memory") }
        scene.rig.drain(deadlineSeconds: 0)
        #expect(scene.rig.run { scene.rig.unfinished != nil && scene.rig.broker.connectionCount == 0 })
        #expect(scene.rig.letsGo())
    }

    private static let count = 1000

    /// Most of them wait in the lane.
    private func manyHeld(_ prepare: (ScriptedBroker) -> Void = { _ in }) throws -> LaneAPNSHarness {
        let scene = try LaneAPNSHarness(inFlightMax: Self.count)
        #expect(scene.rig.pause(.key(SimulatedApps.keyID(0))))
        scene.rig.onLoop { prepare(scene.rig.broker) }
        scene.request(Self.count)
        try #require(scene.rig.run { scene.rig.queue()?.ready.isEmpty == true && scene.rig.counters.held.value > 0 })
        #expect(scene.rig.withLane { $0.pipeline.dispatcher.holds.isWaiting })
        return scene
    }
}
