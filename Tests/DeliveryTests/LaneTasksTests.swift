import AMQP
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A lane's tasks deliver one message after the other.
@Suite struct LaneTasksTests {
    /// `@unchecked Sendable`: touched on the one thread that runs the loop.
    private final class Seen: @unchecked Sendable {
        var content: [UInt8] = []
    }

    @Test func aTaskThatWaitsForAMessageHoldsNothingOfTheLast() throws {
        let rig = try LaneRig()
        try #require(rig.run { rig.isReady })
        let seen = Seen()
        rig.watchDeliveries { seen.content = $0.content.bytes }
        // A task begins with the first and goes on with the second; each waits for the confirms of what it publishes.
        for (count, text) in [(1, "not JSON"), (2, "nor this")] {
            rig.request(text)
            try #require(rig.run { rig.counters.acknowledged.value == count })
            rig.pass(seconds: 1)
            #expect(seen.content.starts(with: text.utf8))
            #expect(!isHeldElsewhere(&seen.content), "\(text)")
        }
    }

    /// An array that has another owner moves when it is changed.
    private func isHeldElsewhere(_ array: inout [UInt8]) -> Bool {
        let before = array.withUnsafeBufferPointer { $0.baseAddress }
        array[0] = 0
        return array.withUnsafeBufferPointer { $0.baseAddress } != before
    }
}
