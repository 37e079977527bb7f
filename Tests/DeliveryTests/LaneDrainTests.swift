import AMQP
import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// How a lane ends, on virtual time.
@Suite struct LaneDrainTests {
    @Test func whatIsNotSentYetGoesBackAtOnceAndTheRestIsWaitedFor() throws {
        let scene = try LaneAPNSHarness()
        scene.request(LaneHarness.inFlightMax)
        // The others wait for the answer to the first of the connection.
        try #require(scene.harness.run { scene.pushes.count == 1 })
        let began = scene.now
        scene.harness.drain(deadlineSeconds: 30)
        #expect(scene.harness.run { scene.harness.queue()?.ready.count == LaneHarness.inFlightMax - 1 })
        #expect(scene.results == 0)
        #expect(scene.harness.run { scene.harness.unfinished == 0 })
        #expect(scene.results == 1 && scene.pushes.count == 1)
        #expect(began.duration(to: scene.now) <= .seconds(3))
    }

    /// Not to a wait queue as well: two workers might push what comes back twice.
    @Test func whatIsNotAnsweredByTheDeadlineGoesBackOnce() throws {
        let scene = try LaneAPNSHarness()
        scene.request(1)
        try #require(scene.harness.run { scene.pushes.count == 1 })
        scene.harness.drain(deadlineSeconds: 0)
        #expect(scene.harness.run { scene.harness.unfinished == 1 && scene.harness.broker.connectionCount == 0 })
        scene.harness.pass(seconds: 60)
        #expect(scene.harness.queue()?.ready.map(\.deliveryCount) == [1])
        #expect(scene.results == 0)
        #expect(scene.harness.letsGo())
    }

    /// The message is in the quarantine: given back, there would be two.
    @Test func whatIsConfirmedAfterTheDeadlineIsAcknowledged() throws {
        let scene = try LaneAPNSHarness()
        let quarantine = scene.harness.names.quarantineQueue
        scene.harness.request(LaneAPNSHarness.message(0, app: 0), deliveryCount: DeliveryPipeline.deliveriesMax)
        try #require(scene.harness.run { scene.harness.queue(quarantine)?.published == 1 })
        scene.harness.drain(deadlineSeconds: 0)
        #expect(scene.harness.run { scene.harness.unfinished == 1 && scene.harness.broker.connectionCount == 0 })
        #expect(scene.harness.queue()?.ready.isEmpty == true && scene.harness.queue(quarantine)?.ready.count == 1)
    }

    /// Lanes come and go with each configuration.
    @Test func whatHasEndedIsLetGo() throws {
        let scene = try LaneAPNSHarness()
        scene.request(1)
        try #require(scene.harness.run { scene.results == 1 })
        scene.harness.drain(deadlineSeconds: 30)
        #expect(scene.harness.run { scene.harness.unfinished == 0 })
        #expect(scene.harness.letsGo())
    }

    /// Lanes come and go while others have the first of its kind.
    @Test func whatWaitsForAnotherLaneEndsWithItsOwn() throws {
        let scene = try LaneAPNSHarness()
        let id = try #require(UUIDValue(LaneAPNSHarness.id(0)))
        scene.harness.withLane { [duplicates = scene.harness.duplicates] lane in
            lane.pipeline.session.consumers[0].wrapHandler { inner in
                DeliveryTap(
                    inner,
                    before: { delivery in
                        // As if another lane had it.
                        let key = duplicates.key(id: id, of: delivery.content)
                        _ = duplicates.begin(key, DuplicateCandidate(channel: duplicates.openChannel()))
                    })
            }
        }
        scene.request(1)
        try #require(scene.harness.run { scene.harness.counters.inFlight.value == 1 })
        scene.harness.drain(deadlineSeconds: 0)
        #expect(scene.harness.run { scene.harness.unfinished == 1 && scene.harness.broker.connectionCount == 0 })
        #expect(scene.harness.queue()?.ready.count == 1 && scene.results == 0 && scene.pushes.isEmpty)
        #expect(scene.harness.counters.inFlight.value == 0)
        #expect(scene.harness.letsGo())
    }

    /// Until the broker knows that it is to send no more, it goes on.
    @Test func whatComesWhileLanesLeaveIsSettledByThem() throws {
        let scene = try LaneAPNSHarness()
        scene.harness.onLoop { for number in 0..<3 { scene.harness.publish(LaneAPNSHarness.message(number, app: 0)) } }
        scene.harness.leave()
        #expect(scene.harness.run { scene.harness.unfinished == 0 })
        #expect(scene.results == 3 && scene.harness.broker.requeued == 0 && scene.harness.counters.requeued.value == 0)
    }

    /// Its return would count as a failed delivery.
    @Test func whatIsInTransitWhenADrainBeginsIsPushed() throws {
        let scene = try LaneAPNSHarness()
        scene.request(1)
        try #require(scene.harness.run { scene.results == 1 })
        scene.harness.onLoop { for number in 1...3 { scene.harness.publish(LaneAPNSHarness.message(number, app: 0)) } }
        scene.harness.drain(deadlineSeconds: 30)
        #expect(scene.harness.run { scene.harness.unfinished == 0 })
        #expect(scene.results == 4 && scene.harness.broker.requeued == 0 && scene.harness.counters.requeued.value == 0)
    }

    /// Another lane of the process takes its place.
    @Test func whoIsToFinishTakesNoMoreAndSettlesWhatItHas() throws {
        let scene = try LaneAPNSHarness()
        scene.request(5)
        try #require(scene.harness.run { scene.pushes.count == 1 })
        scene.harness.finish(deadlineSeconds: 30)
        // The consumer is cancelled once nothing is in transit, which takes 50 ms.
        let heard = scene.now + .milliseconds(100)
        try #require(scene.harness.run { scene.now >= heard })
        scene.request(20, from: 5)
        #expect(scene.harness.run { scene.harness.hasFinished })
        #expect(scene.results == 5 && scene.harness.queue()?.ready.count == 20)
    }

    /// Nor when what held up all of its routes ends meanwhile.
    @Test func whoIsToFinishTakesNoneThoughARouteOpens() throws {
        let scene = try LaneAPNSHarness()
        try scene.harness.onLoop {
            try scene.apns.faults.put(Fault(id: "slow", action: .latency(.constant(10_000))))
        }
        scene.request(1)
        try #require(scene.harness.run { scene.pushes.count == 1 })
        #expect(scene.harness.pause(.key(SimulatedApps.keyID(0))))
        scene.request(1, from: 1)
        try #require(scene.harness.run { scene.waits == 1 })
        scene.harness.finish(deadlineSeconds: 30)
        scene.harness.pass(seconds: 1)
        #expect(scene.harness.pause(.key(SimulatedApps.keyID(0)), false))
        scene.request(20, from: 2)
        #expect(scene.harness.run { scene.harness.hasFinished })
        #expect(scene.results == 1 && scene.harness.queue()?.ready.count == 20)
    }

    /// RabbitMQ loses settlements with a channel when many came shortly before (decision 16).
    @Test func whatWasAcknowledgedLastIsNotDeliveredAgain() throws {
        let count = 200
        let scene = try LaneAPNSHarness(lanes: 2, inFlightMax: count)
        scene.harness.broker.behaviour.confirmDelayMilliseconds = 1...200
        scene.request(count)
        try #require(scene.harness.run { scene.results == count })
        let began = scene.now
        for lane in 0..<2 { scene.harness.drain(lane, deadlineSeconds: 30) }
        // Nobody takes in vain what comes meanwhile.
        try #require(scene.harness.run { scene.now >= began + .milliseconds(500) })
        scene.request(1, from: count)
        #expect(scene.harness.run { scene.harness.unfinished == 0 && scene.harness.broker.connectionCount == 0 })
        #expect(scene.harness.queue()?.ready.map(\.deliveryCount) == [0])
        #expect(scene.pushes.count == count)
        #expect(began.duration(to: scene.now) < .seconds(Lane.settleDeadlineSeconds + Lane.closeDeadlineSeconds))
    }

    /// RabbitMQ takes back what was on its way to a consumer at its `basic.cancel`, and marks it as redelivered though no
    /// one has had it.
    @Test func aCopyThatWasOnItsWayToALaneThatLeftIsTold() throws {
        let scene = try LaneAPNSHarness(lanes: 2)
        // The consumers take turns, the second one first.
        scene.request(2)
        try #require(scene.harness.run { scene.results == 2 })
        scene.harness.leave(0)
        try #require(scene.harness.run { scene.harness.ended == 1 })
        for number in 0..<2 { scene.harness.request(LaneAPNSHarness.message(number, app: 0), deliveryCount: 1) }
        #expect(
            scene.harness.run { scene.harness.queue()?.unsettled == 0 && scene.harness.queue()?.ready.isEmpty == true })
        #expect(scene.results == 4 && scene.pushes.count == 2)
    }
}
