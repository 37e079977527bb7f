import AMQP
import TestKit
import Testing

@testable import Delivery

/// A lane's tasks deliver one message after the other.
@Suite struct LaneTasksTests {
    @Test func aTaskThatWaitsForAMessageHoldsNothingOfTheLast() throws {
        let rig = try LaneRig()
        try #require(rig.run { rig.isReady })
        // A task begins with the first and goes on with the second.
        for text in ["first", "second"] {
            var body = Array(text.utf8)
            rig.take(delivery(body))
            rig.pass(seconds: 1)
            #expect(!isHeldElsewhere(&body), "\(text)")
        }
    }

    private func delivery(_ body: [UInt8]) -> IncomingMessage {
        IncomingMessage(
            tag: DeliveryTag(number: 1, generation: .max, bytes: 0), queue: "push.requests", isRedelivered: false,
            body: body, bodySize: UInt64(body.count), isOversized: false, envelope: [], exchangeEnd: 0, routingKeyEnd: 0
        )
    }

    /// An array that has another owner moves when it is changed.
    private func isHeldElsewhere(_ array: inout [UInt8]) -> Bool {
        let before = array.withUnsafeBufferPointer { $0.baseAddress }
        array[0] = 0
        return array.withUnsafeBufferPointer { $0.baseAddress } != before
    }
}
