import EventLoop
import Testing

@testable import Delivery

@Suite struct HoldPaceTests {
    @Test(arguments: [1, 4, 65]) func lanesDivideTheRateOfAWorker(lanes: Int) {
        var pace = HoldPace(laneCount: lanes)
        var now = MonotonicTime(nanoseconds: 5_000_000_000)
        let end = now + .seconds(1)
        var admitted = 0
        while now < end {
            while pace.admit(now) { admitted += 1 }
            #expect(now < pace.nextBurst && pace.nextBurst <= now + .milliseconds(30))
            now = pace.nextBurst
        }
        let share = HoldPace.perSecondMax / lanes
        let burst = share * Int(HoldPace.burstMilliseconds) / 1000
        #expect(share...(share + 2 * burst + 2) ~= admitted, "\(admitted)")
    }
}
