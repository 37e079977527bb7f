import AMQP
import EventLoop
import Testing

@testable import Delivery

@Suite struct PublishFlowTests {
    private func record() -> DeliveryRecord {
        DeliveryRecord(of: IncomingMessage(unpublished: []), from: 0, VirtualLoop(seed: 1).now)
    }

    @Test func keepsTheReasonOfTheFirstMessage() {
        var flow = PublishFlow.flowing
        #expect(!flow.isStuck && flow.failure == nil)
        #expect(flow.stick("a queue is full") == true)
        #expect(flow.stick("no queue") == false)
        #expect(flow.isStuck && flow.failure == "a queue is full")
    }

    @Test func flowsAgainAfterTheLastMessage() {
        var flow = PublishFlow.flowing
        _ = flow.stick("first")
        _ = flow.stick("second")
        let parked = record()
        flow.park(parked)
        #expect(flow.unstick() == nil && flow.isStuck)
        let released = flow.unstick()
        #expect(released?.count == 1 && released?.first === parked)
        #expect(!flow.isStuck)
        #expect(flow.unstick() == nil)
    }

    @Test func returnsParkedRecordsOnce() {
        var flow = PublishFlow.flowing
        #expect(flow.takeParked().isEmpty)
        _ = flow.stick("first")
        flow.park(record())
        flow.park(record())
        #expect(flow.takeParked().count == 2)
        #expect(flow.takeParked().isEmpty && flow.isStuck)
        #expect(flow.unstick()?.isEmpty == true)
    }
}
