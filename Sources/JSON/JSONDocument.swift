/// A parsed text with its own memory. Workers parse notification requests with a `JSONParser`, which reuses its memory.
public final class JSONDocument: @unchecked Sendable {
    // `Sendable`: the tape is filled before the initializer returns and does not change afterward.
    private let tape: JSONTape

    private init(tape: JSONTape) {
        self.tape = tape
    }

    public convenience init(_ text: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        let parser = JSONParser(limits: limits)
        self.init(tape: try parser.parse(text).tape)
    }

    public convenience init(_ text: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        let parser = JSONParser(limits: limits)
        self.init(tape: try parser.parse(text).tape)
    }

    public convenience init(_ text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        try self.init(Array(text.utf8), limits: limits)
    }

    public var root: JSONValue { JSONValue(tape: tape, index: 0) }

    /// Returns the position of a value or key.
    public func position(of value: JSONValue) -> JSONPosition { position(ofNode: value.nodeIndex) }

    /// Returns the position of the value or key with this `nodeIndex`. An index outside the text counts as the root.
    public func position(ofNode index: Int) -> JSONPosition {
        JSONPosition(offset: offset(ofNode: index), in: tape.source)
    }

    /// Returns the positions of several values or keys in a single pass over the text.
    public func positions(ofNodes indices: [Int]) -> [JSONPosition] {
        let offsets = indices.map { offset(ofNode: $0) }
        var positions = [JSONPosition](repeating: JSONPosition(offset: 0, line: 1, column: 1), count: indices.count)
        var place = JSONPosition(offset: 0, line: 1, column: 1)
        for number in offsets.indices.sorted(by: { offsets[$0] < offsets[$1] }) {
            place.advance(to: offsets[number], in: tape.source)
            positions[number] = place
        }
        return positions
    }

    private func offset(ofNode index: Int) -> Int {
        tape.nodes[(0..<tape.nodeCount).contains(index) ? index : 0].start
    }
}
