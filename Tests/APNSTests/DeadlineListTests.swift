import EventLoop
import Testing

@testable import APNS

@Suite struct DeadlineListTests {
    private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private func due(_ list: inout DeadlineList, _ now: Int64) -> [Int] {
        var slots: [Int] = []
        while let slot = list.popDue(time(now)) { slots.append(slot) }
        return slots
    }

    @Test func popsSlotsInTheOrderOfTheirDeadlines() {
        var list = DeadlineList()
        for (slot, deadline) in [(3, 10), (0, 10), (7, 12), (1, 20)] {
            list.add(slot: slot, deadline: time(Int64(deadline)))
        }
        #expect(list.next == time(10))
        #expect(due(&list, 9) == [])
        #expect(due(&list, 12) == [3, 0, 7])
        #expect(list.next == time(20))
        #expect(due(&list, 20) == [1])
        #expect(list.next == nil)
    }

    @Test(arguments: 1...20) func acceptsDeadlinesInAnyOrder(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var list = DeadlineList()
        var expected: [(slot: Int, deadline: Int64)] = []
        for slot in 0..<200 {
            let deadline = Int64(random.next() % 50)
            list.add(slot: slot, deadline: time(deadline))
            expected.append((slot, deadline))
            guard random.next() % 3 == 0 else { continue }
            let removed = expected.remove(at: Int(random.next() % UInt64(expected.count)))
            list.remove(slot: removed.slot)
        }
        // Slots with the same deadline keep the order of insertion.
        #expect(due(&list, 100) == expected.sorted { ($0.deadline, $0.slot) < ($1.deadline, $1.slot) }.map(\.slot))
        #expect(list.next == nil)
    }

    @Test func removesASlotFromAnyPosition() {
        for removed in [[0], [1], [2], [0, 1], [1, 2], [2, 0], [0, 1, 2]] {
            var list = DeadlineList()
            for slot in 0..<3 { list.add(slot: slot, deadline: time(Int64(slot))) }
            for slot in removed { list.remove(slot: slot) }
            list.remove(slot: 99)
            list.remove(slot: removed[0])
            #expect(due(&list, 100) == [0, 1, 2].filter { !removed.contains($0) })
        }
    }

    @Test func slotsAreReused() {
        var list = DeadlineList()
        for round in 0..<1000 {
            list.add(slot: round % 7, deadline: time(Int64(round)))
            if round >= 6 { list.remove(slot: (round + 1) % 7) }
        }
        #expect(due(&list, 994) == [994 % 7])
    }
}
