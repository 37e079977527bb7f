import JSON
import Synchronization
import Testing

@testable import Delivery

/// The buffers between lanes and the control loop.
@Suite struct JournalBufferTests {
    private static func object(_ number: Int, bytes: Int = 0) -> ArraySlice<UInt8> {
        let object = Array(#"{"n":\#(number),"x":"\#(String(repeating: "x", count: max(0, bytes - 20)))"}"#.utf8)
        return object[...]
    }

    private static func numbers(_ chunk: JournalBuffer.Chunk) throws -> [Int] {
        let lines = try JSONDocument([UInt8(ascii: "[")] + chunk.lines + [UInt8(ascii: "]")]).root.elements.map { $0 }
        return lines.map { Array($0.elements)[1]["n"]?.int ?? -1 }
    }

    @Test func `Lines are JSON arrays in order`() throws {
        var buffer = JournalBuffer()
        for number in 0..<3 { buffer.add("result", Self.object(number)) }
        #expect(buffer.chunks.count == 1 && buffer.lineCount == 3 && buffer.droppedCount == 0)
        let text = String(decoding: buffer.chunks[0].lines, as: UTF8.self)
        #expect(text.hasPrefix(#"["result",{"n":0,"x":""}],["result",{"n":1"#))
        #expect(try Self.numbers(buffer.chunks[0]) == [0, 1, 2])
        #expect(buffer.take().lineCount == 3 && buffer.isEmpty && buffer.byteCount == 0)
    }

    @Test func `A chunk is at most a batch`() throws {
        var buffer = JournalBuffer()
        for number in 0..<100 { buffer.add("result", Self.object(number, bytes: 10_000)) }
        #expect(buffer.chunks.allSatisfy { $0.lines.count <= JournalBuffer.chunkBytesMax })
        #expect(try buffer.chunks.flatMap { try Self.numbers($0) } == Array(0..<100))
        #expect(buffer.chunks.count == 10)
    }

    @Test func `Lines beyond the limits are dropped and counted`() {
        var buffer = JournalBuffer()
        buffer.add("dead", Self.object(0, bytes: JournalBuffer.lineBytesMax))
        #expect(buffer.droppedCount == 1 && buffer.chunks.isEmpty)
        for number in 0..<500 { buffer.add("dead", Self.object(number, bytes: 20_000)) }
        #expect(buffer.byteCount <= JournalBuffer.bytesMax && buffer.byteCount > JournalBuffer.bytesMax - 30_000)
        #expect(buffer.lineCount + buffer.droppedCount == 501)
        #expect(buffer.chunks.reduce(0) { $0 + $1.lines.count } <= buffer.byteCount)
    }

    private static func buffer(_ numbers: Range<Int>, bytes: Int = 0) -> JournalBuffer {
        var buffer = JournalBuffer()
        for number in numbers { buffer.add("result", object(number, bytes: bytes)) }
        return buffer
    }

    @Test func `The queue joins small chunks`() throws {
        let queue = JournalQueue()
        for lane in 0..<4 { queue.add(Self.buffer(lane * 10..<lane * 10 + 10), ofLane: lane) }
        let chunk = queue.takeChunk()
        #expect(try Self.numbers(chunk) == Array(0..<40) && chunk.lineCount == 40)
        #expect(queue.amounts() == JournalQueue.Amounts() && queue.takeChunk() == JournalBuffer.Chunk())
    }

    @Test func `The queue splits large amounts`() throws {
        let queue = JournalQueue()
        for lane in 0..<10 { queue.add(Self.buffer(lane * 10..<lane * 10 + 10, bytes: 3000), ofLane: lane) }
        var numbers: [Int] = []
        var chunks = 0
        while case let chunk = queue.takeChunk(), chunk.lineCount > 0 {
            #expect(chunk.lines.count <= JournalBuffer.chunkBytesMax)
            numbers += try Self.numbers(chunk)
            chunks += 1
        }
        #expect(numbers == Array(0..<100) && chunks == 4 && queue.amounts().byteCount == 0)
    }

    @Test func `A lane's waiting lines are bounded, and other lanes have their own limit`() {
        let queue = JournalQueue()
        let full = Self.buffer(0..<40, bytes: 20_000)
        for _ in 0..<10 { queue.add(full, ofLane: 0) }
        let amounts = queue.amounts()
        #expect(amounts.byteCount <= JournalBuffer.bytesMax && amounts.byteCount > JournalBuffer.bytesMax - 100_000)
        #expect(amounts.droppedCount > 150)
        queue.add(full, ofLane: 1)
        #expect(queue.amounts().droppedCount == amounts.droppedCount)
        // Lines that were taken make room.
        while queue.takeChunk().lineCount > 0 {}
        queue.add(full, ofLane: 0)
        #expect(queue.amounts().droppedCount == amounts.droppedCount && queue.takeChunk().lineCount > 0)
    }

    @Test func `The queue notifies once until its amounts are read`() {
        let queue = JournalQueue()
        let calls = Atomic(0)
        queue.notify { calls.add(1, ordering: .relaxed) }
        for _ in 0..<3 { queue.add(Self.buffer(0..<1), ofLane: 0) }
        #expect(calls.load(ordering: .relaxed) == 1)
        _ = queue.amounts()
        queue.add(Self.buffer(0..<1), ofLane: 0)
        #expect(calls.load(ordering: .relaxed) == 2)
    }
}
