import EventLoop
import Testing

@testable import APNSSimulator

@Suite struct AnswerQueueTests {
    @Test func returnsByTimeThenByAddition() throws {
        var queue = AnswerQueue<Int>()
        for (status, due) in [(201, 30), (202, 10), (203, 20), (204, 10), (205, 30), (206, 10)] {
            add(status, due: due, to: &queue)
        }
        #expect(queue.nextDue == time(10))
        #expect(due(&queue, at: 9) == [])
        #expect(due(&queue, at: 20) == [202, 204, 206, 203])
        #expect(due(&queue, at: 100) == [201, 205])
        #expect(queue.nextDue == nil)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func staysSortedUnderRandomChanges(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var queue = AnswerQueue<Int>()
        var expected: [(due: Int, status: Int)] = []
        var tickets: [(status: Int, ticket: AnswerTicket)] = []
        var clock = 0
        for status in 0..<3000 {
            let due = clock + random.below(50)
            tickets.append((status, add(status, due: due, to: &queue)))
            expected.append((due, status))
            if random.chance(percent: 40), let index = tickets.indices.randomElement(using: &random) {
                let gone = tickets.remove(at: index)
                queue.cancel(gone.ticket)
                expected.removeAll { $0.status == gone.status }
                queue.cancel(gone.ticket)
            }
            if random.chance(percent: 20) {
                clock += random.below(40)
                let now = clock
                let first = expected.filter { $0.due <= now }.sorted { ($0.due, $0.status) < ($1.due, $1.status) }
                #expect(self.due(&queue, at: now) == first.map(\.status))
                expected.removeAll { $0.due <= now }
            }
        }
    }

    @Test func canceledEntriesReleaseTheirMemory() throws {
        var queue = AnswerQueue<Int>()
        let kept = add(200, due: 1_000_000, to: &queue)
        for _ in 0..<100_000 {
            let ticket = add(500, due: 500_000, to: &queue)
            queue.cancel(ticket)
            #expect(queue.capacityInUse < 200)
        }
        #expect(due(&queue, at: 500_000) == [])
        queue.cancel(kept)
        queue.cancel(kept)
        #expect(due(&queue, at: 1_000_000) == [])
    }

    @discardableResult
    private func add(_ status: Int, due: Int, to queue: inout AnswerQueue<Int>) -> AnswerTicket {
        queue.add(status, due: time(due))
    }

    private func due(_ queue: inout AnswerQueue<Int>, at now: Int) -> [Int] {
        var statuses: [Int] = []
        while let next = queue.popDue(time(now)) { statuses.append(next) }
        return statuses
    }

    private func time(_ number: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(number)) }
}
