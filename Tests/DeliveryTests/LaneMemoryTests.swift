import AMQP
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// The release of request bodies by a lane.
@Suite struct LaneMemoryTests {
    /// The last request body that a delivery contained.
    ///
    /// `@unchecked Sendable`: used only on the thread that runs the loop.
    private final class Seen: @unchecked Sendable {
        var content: [UInt8] = []
    }

    @Test func aCompletedRequestIsReleased() throws {
        let fixture = try LaneAPNSHarness()
        let harness = fixture.harness
        try #require(harness.run { harness.isReady })
        let seen = Seen()
        harness.watchDeliveries { seen.content = $0.content.bytes }
        for (count, text) in [(1, LaneAPNSHarness.message(1, app: 0)), (2, "not JSON")] {
            harness.request(text)
            try #require(harness.run { harness.counters.acknowledged.value == count })
            harness.pass(seconds: 1)
            #expect(seen.content.starts(with: text.utf8))
            #expect(!isHeldElsewhere(&seen.content), "\(text)")
        }
    }

    /// Returns whether another reference to the array exists. A shared array is copied when it is modified.
    private func isHeldElsewhere(_ array: inout [UInt8]) -> Bool {
        let before = array.withUnsafeBufferPointer { $0.baseAddress }
        array[0] = 0
        return array.withUnsafeBufferPointer { $0.baseAddress } != before
    }
}
