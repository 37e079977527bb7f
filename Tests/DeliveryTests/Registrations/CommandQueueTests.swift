import EventLoop
import Registrations
import Testing

@testable import Delivery

@Suite struct CommandQueueTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func batch(_ step: CommandQueue<Int>.Step) -> [Int]? {
        if case .write(let batch) = step { batch } else { nil }
    }

    private func queue(_ commands: Range<Int>) -> CommandQueue<Int> {
        var queue = CommandQueue<Int>()
        for command in commands { queue.append(command, now: Self.start) }
        return queue
    }

    @Test func `A command waits for others of its batch`() {
        var queue = queue(0..<2)
        guard case .wait(let time) = queue.next(now: Self.start) else { return #expect(Bool(false)) }
        #expect(time == Self.start + .milliseconds(CommandQueue<Int>.collectMilliseconds))
        queue.append(2, now: time)
        #expect(batch(queue.next(now: time)) == [0, 1, 2])
    }

    @Test func `A full batch does not wait`() {
        var queue = queue(0..<CommandBatch.commandsMax + 1)
        #expect(batch(queue.next(now: Self.start))?.count == CommandBatch.commandsMax)
        #expect(batch(queue.next(now: Self.start)) == nil)
        queue.committed()
        #expect(batch(queue.next(now: Self.start)) == nil)
        #expect(!queue.isEmpty)
    }

    @Test func `The next batch collects while one is written`() {
        var queue = queue(0..<1)
        let later = Self.start + .seconds(1)
        #expect(batch(queue.next(now: later)) == [0])
        queue.append(1, now: Self.start)
        #expect(batch(queue.next(now: later)) == nil)
        queue.committed()
        #expect(batch(queue.next(now: later)) == [1])
        queue.committed()
        #expect(queue.isEmpty)
    }

    @Test func `A failed batch precedes the waiting commands`() {
        var queue = queue(0..<2)
        let later = Self.start + .seconds(1)
        #expect(batch(queue.next(now: later)) == [0, 1])
        queue.append(2, now: Self.start)
        queue.failed(isRepeatedFailure: false)
        #expect(batch(queue.next(now: later)) == [0, 1])
        queue.committed()
        #expect(batch(queue.next(now: later)) == [2])
    }

    @Test(arguments: [0, 1, 100, 255]) func `A refused batch is divided until the faulty command is alone`(faulty: Int)
    {
        var queue = queue(0..<CommandBatch.commandsMax)
        var written: [Int] = []
        var refused: [Int] = []
        var transactions = 0
        while let batch = batch(queue.next(now: Self.start + .seconds(1))) {
            transactions += 1
            guard batch.contains(faulty) else {
                written += batch
                queue.committed()
                continue
            }
            if let command = queue.refused() { refused.append(command) }
        }
        #expect(written == (0..<CommandBatch.commandsMax).filter { $0 != faulty })
        #expect(refused == [faulty])
        #expect(transactions == 17)
        #expect(queue.isEmpty)
    }

    @Test func `A batch that fails repeatedly is divided, and no command is lost`() {
        var queue = queue(0..<CommandBatch.commandsMax)
        var written: [Int] = []
        var failures = 0
        while let batch = batch(queue.next(now: Self.start + .seconds(1))) {
            // The store commits only batches of at most three commands, and fails once more.
            if batch.count <= 3, failures != 100 {
                written += batch
                queue.committed()
            } else {
                queue.failed(isRepeatedFailure: failures > 0)
            }
            failures += 1
        }
        #expect(written == Array(0..<CommandBatch.commandsMax))
        #expect(queue.isEmpty)
    }

    @Test func `Removed commands are not written`() {
        var queue = queue(0..<4)
        let later = Self.start + .seconds(1)
        #expect(batch(queue.next(now: later))?.count == 4)
        #expect(queue.removeAll() == [])
        queue.failed(isRepeatedFailure: false)
        queue.append(4, now: Self.start)
        #expect(queue.removeAll { $0 % 2 == 0 } == [0, 2, 4])
        #expect(batch(queue.next(now: later)) == [1, 3])
        queue.committed()
        #expect(queue.isEmpty)
    }
}
