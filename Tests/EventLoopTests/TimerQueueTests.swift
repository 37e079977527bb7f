import Testing

@testable import EventLoop

@Suite struct TimerQueueTests {
    private func time(_ nanoseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }

    private func fire(_ timers: inout TimerQueue, until now: Int64) {
        let newest = timers.newest
        while let action = timers.popDue(until: time(now), newest: newest) { action() }
    }

    @Test func firesByDeadlineThenInOrderOfAdding() {
        var timers = TimerQueue()
        var fired: [String] = []
        _ = timers.add(at: time(20)) { fired.append("b") }
        _ = timers.add(at: time(10)) { fired.append("a") }
        _ = timers.add(at: time(20)) { fired.append("c") }
        _ = timers.add(at: time(30)) { fired.append("later") }
        fire(&timers, until: 25)
        #expect(fired == ["a", "b", "c"])
        #expect(timers.next == time(30))
    }

    @Test func aCancelledTimerDoesNotFireAndAStaleTokenIsHarmless() {
        var timers = TimerQueue()
        var fired = 0
        let first = timers.add(at: time(1)) { fired += 1 }
        timers.cancel(first)
        timers.cancel(first)
        #expect(timers.next == nil)
        _ = timers.add(at: time(2)) { fired += 10 }
        timers.cancel(first)
        fire(&timers, until: 5)
        #expect(fired == 10)
    }

    @Test func cancelledTimersDoNotAccumulate() {
        var timers = TimerQueue()
        _ = timers.add(at: time(0)) {}
        for round in 1...100_000 { timers.cancel(timers.add(at: time(Int64(round))) {}) }
        var left = 0
        while timers.popDue(until: .distantFuture, newest: timers.newest) != nil { left += 1 }
        #expect(left == 1)
        #expect(timers.capacityInUse < 1000)
    }

    @Test func randomOperationsAgreeWithASortedList() {
        var random = SeededRandom(seed: 7)
        var timers = TimerQueue()
        var model: [(deadline: Int64, id: Int, token: TimerToken)] = []
        var fired: [Int] = []
        var expected: [Int] = []
        for id in 0..<5_000 {
            if random.chance(percent: 60) || model.isEmpty {
                let deadline = Int64(random.below(1_000_000))
                model.append((deadline, id, timers.add(at: time(deadline)) { fired.append(id) }))
            } else if random.chance(percent: 70) {
                timers.cancel(model.remove(at: random.below(model.count)).token)
            } else {
                let now = Int64(random.below(1_000_000))
                expected += model.filter { $0.deadline <= now }.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
                    .map(\.id)
                model.removeAll { $0.deadline <= now }
                fire(&timers, until: now)
            }
        }
        #expect(fired == expected)
    }
}
