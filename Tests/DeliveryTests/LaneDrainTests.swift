import AMQP
import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Drains of a lane, on virtual time.
@Suite struct LaneDrainTests {
    @Test func unsentRequestsAreRequeuedAndSentOnesAreFinished() throws {
        let fixture = try LaneAPNSHarness()
        fixture.request(LaneHarness.inFlightMax)
        // The other pushes wait for the answer to the first push of the connection.
        try #require(fixture.harness.run { fixture.pushes.count == 1 })
        let began = fixture.now
        fixture.harness.drain(deadlineSeconds: 30)
        #expect(fixture.harness.run { fixture.harness.queue()?.ready.count == LaneHarness.inFlightMax - 1 })
        #expect(fixture.results == 0)
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 })
        #expect(fixture.results == 1 && fixture.pushes.count == 1)
        #expect(began.duration(to: fixture.now) <= .seconds(3))
    }

    // If the request also moved to a wait queue, two workers might push it.
    @Test func anUnansweredRequestIsRequeuedOnceAtTheDeadline() throws {
        let fixture = try LaneAPNSHarness()
        fixture.request(1)
        try #require(fixture.harness.run { fixture.pushes.count == 1 })
        fixture.harness.drain(deadlineSeconds: 0)
        #expect(fixture.harness.run { fixture.harness.unfinished == 1 && fixture.harness.broker.connectionCount == 0 })
        fixture.harness.pass(seconds: 60)
        #expect(fixture.harness.queue()?.ready.map(\.deliveryCount) == [1])
        #expect(fixture.results == 0)
        #expect(fixture.harness.releasesLanes())
    }

    // The request is already in the quarantine. A requeue would duplicate it.
    @Test func aPublishConfirmedAfterTheDeadlineIsAcknowledged() throws {
        let fixture = try LaneAPNSHarness()
        let quarantine = fixture.harness.names.quarantineQueue
        fixture.harness.request(LaneAPNSHarness.message(0, app: 0), deliveryCount: DeliveryPipeline.deliveriesMax)
        try #require(fixture.harness.run { fixture.harness.queue(quarantine)?.published == 1 })
        fixture.harness.drain(deadlineSeconds: 0)
        #expect(fixture.harness.run { fixture.harness.unfinished == 1 && fixture.harness.broker.connectionCount == 0 })
        #expect(fixture.harness.queue()?.ready.isEmpty == true && fixture.harness.queue(quarantine)?.ready.count == 1)
    }

    // A changed configuration replaces the lanes.
    @Test func anEndedLaneIsReleased() throws {
        let fixture = try LaneAPNSHarness()
        fixture.request(1)
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.drain(deadlineSeconds: 30)
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 })
        #expect(fixture.harness.releasesLanes())
    }

    // A lane may end while another lane has the first delivery of a request.
    @Test func aDeliveryThatWaitsForAnotherLaneEndsWithItsOwnLane() throws {
        let fixture = try LaneAPNSHarness()
        let id = try #require(UUIDValue(LaneAPNSHarness.id(0)))
        fixture.harness.withLane { [duplicates = fixture.harness.duplicates] lane in
            lane.pipeline.session.consumers[0].wrapHandler { inner in
                DeliveryTap(
                    inner,
                    before: { delivery in
                        // The memory behaves as if another lane had the first delivery.
                        let key = duplicates.key(id: id, of: delivery.content)
                        _ = duplicates.begin(key, DuplicateCandidate(channel: duplicates.openChannel()))
                    })
            }
        }
        fixture.request(1)
        try #require(fixture.harness.run { fixture.harness.counters.inFlight.value == 1 })
        fixture.harness.drain(deadlineSeconds: 0)
        #expect(fixture.harness.run { fixture.harness.unfinished == 1 && fixture.harness.broker.connectionCount == 0 })
        #expect(fixture.harness.queue()?.ready.count == 1 && fixture.results == 0 && fixture.pushes.isEmpty)
        #expect(fixture.harness.counters.inFlight.value == 0)
        #expect(fixture.harness.releasesLanes())
    }

    // The broker sends deliveries until it receives `basic.cancel`.
    @Test func deliveriesThatArriveWhileLanesLeaveAreSettled() throws {
        let fixture = try LaneAPNSHarness()
        fixture.harness.onLoop {
            for number in 0..<3 { fixture.harness.publish(LaneAPNSHarness.message(number, app: 0)) }
        }
        fixture.harness.leave()
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 })
        #expect(
            fixture.results == 3 && fixture.harness.broker.requeued == 0 && fixture.harness.counters.requeued.value == 0
        )
    }

    // A requeue would count as a failed delivery.
    @Test func deliveriesInTransitAtTheStartOfADrainArePushed() throws {
        let fixture = try LaneAPNSHarness()
        fixture.request(1)
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.onLoop {
            for number in 1...3 { fixture.harness.publish(LaneAPNSHarness.message(number, app: 0)) }
        }
        fixture.harness.drain(deadlineSeconds: 30)
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 })
        #expect(
            fixture.results == 4 && fixture.harness.broker.requeued == 0 && fixture.harness.counters.requeued.value == 0
        )
    }

    // Another lane of the process replaces the finishing lane.
    @Test func aFinishingLaneConsumesNoMoreAndSettlesItsDeliveries() throws {
        let fixture = try LaneAPNSHarness()
        fixture.request(5)
        try #require(fixture.harness.run { fixture.pushes.count == 1 })
        fixture.harness.finish(deadlineSeconds: 30)
        // The lane cancels its consumer when no delivery has arrived for 50 ms.
        let heard = fixture.now + .milliseconds(100)
        try #require(fixture.harness.run { fixture.now >= heard })
        fixture.request(20, from: 5)
        #expect(fixture.harness.run { fixture.harness.hasFinished })
        #expect(fixture.results == 5 && fixture.harness.queue()?.ready.count == 20)
    }

    @Test func aFinishingLaneIsNotPausedAndCannotBeResumed() throws {
        let fixture = try LaneAPNSHarness()
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "slow", action: .latency(.constant(10_000))))
        }
        fixture.request(1)
        try #require(fixture.harness.run { fixture.pushes.count == 1 })
        fixture.harness.finish(deadlineSeconds: 30)
        fixture.harness.pass(seconds: 1)
        #expect(fixture.harness.status()?.state.isDraining == true)
        #expect(fixture.harness.status()?.state.isPaused == false)
        #expect(fixture.harness.pause(.everything))
        #expect(fixture.harness.pause(.everything, false))
        fixture.request(20, from: 1)
        #expect(fixture.harness.run { fixture.harness.hasFinished })
        #expect(fixture.results == 1 && fixture.harness.queue()?.ready.count == 20)
    }

    @Test func aFinishingLaneDoesNotConsumeWhenARouteOpens() throws {
        let fixture = try LaneAPNSHarness()
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "slow", action: .latency(.constant(10_000))))
        }
        fixture.request(1)
        try #require(fixture.harness.run { fixture.pushes.count == 1 })
        #expect(fixture.harness.pause(.key(SimulatedApps.keyID(0))))
        fixture.request(1, from: 1)
        try #require(fixture.harness.run { fixture.waits == 1 })
        fixture.harness.finish(deadlineSeconds: 30)
        fixture.harness.pass(seconds: 1)
        #expect(fixture.harness.pause(.key(SimulatedApps.keyID(0)), false))
        fixture.request(20, from: 2)
        #expect(fixture.harness.run { fixture.harness.hasFinished })
        #expect(fixture.results == 1 && fixture.harness.queue()?.ready.count == 20)
    }

    // If many acknowledgments arrive shortly before their channel closes, RabbitMQ loses some of them
    // (decision 16).
    @Test func theLastAcknowledgedDeliveriesAreNotRedelivered() throws {
        let count = 200
        let fixture = try LaneAPNSHarness(lanes: 2, inFlightMax: count)
        fixture.harness.broker.behavior.confirmDelayMilliseconds = 1...200
        fixture.request(count)
        try #require(fixture.harness.run { fixture.results == count })
        let began = fixture.now
        for lane in 0..<2 { fixture.harness.drain(lane, deadlineSeconds: 30) }
        // No consumer receives the requests that arrive now.
        try #require(fixture.harness.run { fixture.now >= began + .milliseconds(500) })
        fixture.request(1, from: count)
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 && fixture.harness.broker.connectionCount == 0 })
        #expect(fixture.harness.queue()?.ready.map(\.deliveryCount) == [0])
        #expect(fixture.pushes.count == count)
        #expect(began.duration(to: fixture.now) < .seconds(Lane.settleDeadlineSeconds + Lane.closeDeadlineSeconds))
    }

    // At `basic.cancel`, RabbitMQ requeues deliveries in transit and marks them as redelivered, although no consumer
    // received them.
    @Test func aDuplicateInTransitToALeavingLaneIsReported() throws {
        let fixture = try LaneAPNSHarness(lanes: 2)
        // The broker alternates between the consumers and starts with the second consumer.
        fixture.request(2)
        try #require(fixture.harness.run { fixture.results == 2 })
        fixture.harness.leave(0)
        try #require(fixture.harness.run { fixture.harness.ended == 1 })
        for number in 0..<2 { fixture.harness.request(LaneAPNSHarness.message(number, app: 0), deliveryCount: 1) }
        #expect(
            fixture.harness.run {
                fixture.harness.queue()?.unsettled == 0 && fixture.harness.queue()?.ready.isEmpty == true
            })
        #expect(fixture.results == 4 && fixture.pushes.count == 2)
    }

    // The drain would otherwise wait until the lane has no deliveries.
    @Test func aDrainEndsTheWaitOfAFinishingLane() throws {
        let fixture = try LaneAPNSHarness()
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "slow", action: .latency(.constant(20_000))))
        }
        fixture.request(1)
        try #require(fixture.harness.run { fixture.pushes.count == 1 })
        fixture.harness.finish(deadlineSeconds: 600)
        fixture.harness.pass(seconds: 1)
        #expect(!fixture.harness.hasFinished)
        fixture.harness.drain(deadlineSeconds: 60)
        fixture.harness.pass(seconds: 1)
        #expect(fixture.harness.hasFinished && fixture.harness.unfinished == nil)
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 } && fixture.results == 1)
    }

    @Test func aResumeDoesNotEndADrain() throws {
        let fixture = try LaneAPNSHarness()
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "slow", action: .latency(.constant(20_000))))
        }
        fixture.request(1)
        try #require(fixture.harness.run { fixture.pushes.count == 1 })
        fixture.harness.drain(deadlineSeconds: 60)
        fixture.harness.pass(seconds: 1)
        #expect(fixture.harness.pause(.everything, false))
        fixture.request(5, from: 1)
        #expect(fixture.harness.status()?.state.isDraining == true)
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 })
        #expect(fixture.pushes.count == 1 && fixture.harness.queue()?.ready.count == 5)
    }

    // The broker does not answer `basic.cancel`, so the lane is still draining when its APNs connection is lost.
    @Test func aDrainingLaneDoesNotTestALostRoute() throws {
        let fixture = try LaneAPNSHarness(keys: 2, apps: 2, endpoints: 2)
        let harness = fixture.harness
        try harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "slow", action: .latency(.constant(20_000))))
        }
        for app in 0..<2 { fixture.request(1, from: app, app: app) }
        try #require(harness.run { fixture.pushes.count == 2 })
        harness.onLoop { harness.broker.setSilent(true) }
        harness.drain(deadlineSeconds: 30)
        harness.pass(seconds: 1)
        let lost = try #require(harness.loop.network.connections.first { $0.endpoint != harness.broker.endpoint })
        harness.onLoop { lost.cut() }
        harness.pass(seconds: 5)
        #expect(fixture.connections == 2)
        harness.onLoop { harness.broker.setSilent(false) }
        #expect(harness.run { harness.unfinished != nil })
    }
}
