import Testing

@testable import JSON

struct JSONTapeTests {
    @Test func memoryOfALargeTextIsReleased() throws {
        let parser = JSONParser()
        let tape = try parser.parse(Array("1".utf8)).tape
        let large = "[" + Array(repeating: "1", count: 40_000).joined(separator: ",") + "]"
        _ = try parser.parse(Array(large.utf8))
        #expect(tape.nodeCapacity > 40_000)
        _ = try parser.parse(Array("1".utf8))
        #expect(tape.nodeCapacity * MemoryLayout<JSONNode>.stride <= JSONTape.keptBytesMax)
        _ = try parser.parse(Array(("[\"" + String(repeating: "a", count: 300_000) + "\"]").utf8))
        _ = try parser.parse(Array("1".utf8))
        #expect(tape.byteCapacity <= JSONTape.keptBytesMax)
    }
}
