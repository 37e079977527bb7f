/// A reference to a value in a parsed text. Valid until the parser reads the next text. Later use traps. A value of a
/// `JSONDocument` keeps the document's memory alive.
public struct JSONValue {
    private let memory: JSONTape
    /// The index on the tape.
    package let index: Int
    private let generation: UInt32

    package init(tape: JSONTape, index: Int) {
        self.memory = tape
        self.index = index
        self.generation = tape.generation
    }

    /// The tape. Traps if the parser has read the next text.
    package var tape: JSONTape {
        precondition(generation == memory.generation, "a JSON value was used after its parser read the next text")
        return memory
    }

    /// Returns another value of the same text.
    func value(at index: Int) -> JSONValue { JSONValue(tape: tape, index: index) }

    /// A view that is valid while this value is kept, until the parser reads the next text.
    var view: JSONNodeView { JSONNodeView(tape.view, index) }

    var node: JSONNode { tape.nodes[index] }

    /// The index of this value among the values and keys of its text, in the order of their first bytes.
    public var nodeIndex: Int { index }

    public var kind: JSONKind { node.kind }

    /// The range of the value in the parsed bytes.
    public var sourceRange: Range<Int> { view.sourceRange }

    public var sourceBytes: [UInt8] { Array(tape.source[sourceRange]) }

    public var isNull: Bool { node.kind == .null }

    public var bool: Bool? {
        let node = node
        return node.kind == .boolean ? node.count == 1 : nil
    }
}

extension JSONValue {
    /// The text of a string with escapes decoded; nil for other values.
    public var string: String? { view.string }

    /// Calls `body` with the text of a string in UTF-8, with escapes decoded and without a copy. The pointer is valid
    /// during the call only. Returns nil for other values, without a call.
    public func withUTF8<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let text = view.text else { return nil }
        return try body(text)
    }

    /// Returns whether this value is a string with exactly this text.
    public func isString(_ text: StaticString) -> Bool {
        let node = node
        return node.kind == .string && tape.isEqual(node, text.utf8Start, text.utf8CodeUnitCount)
    }
}

extension JSONValue {
    /// The number without loss of precision; nil for other values. The number borrows the tape's bytes.
    package var number: JSONNumber? { node.kind == .number ? tape.number(at: index) : nil }

    /// The value of a whole 64-bit number, also if written as `1.0` or `1e3`; nil for other values.
    public var int64: Int64? { view.int64 }

    public var int: Int? { int64.flatMap(Int.init(exactly:)) }

    /// The nearest double, infinite if the number is too large; nil for other values.
    public var double: Double? {
        node.kind == .number ? Double(String(decoding: tape.source[sourceRange], as: UTF8.self)) : nil
    }
}

extension JSONValue {
    /// The number of elements of an array, or of members of an object; 0 for other values.
    public var count: Int {
        let node = node
        return node.isContainer ? Int(node.count) : 0
    }

    /// The elements of an array; empty for other values.
    public var elements: JSONElements { JSONElements(self) }

    /// The members of an object in the order of the text; empty for other values.
    public var members: JSONMembers { JSONMembers(self) }

    /// The value of a member; nil if the member is missing or this value is not an object.
    public subscript(_ key: StaticString) -> JSONValue? {
        member(key.utf8Start, key.utf8CodeUnitCount)
    }

    /// The value of a member whose key is known only at run time; nil in the same cases as for a static key.
    public subscript(key key: String) -> JSONValue? {
        var key = key
        return key.withUTF8 { text in
            guard let start = text.baseAddress else { return self[""] }
            return member(start, text.count)
        }
    }

    private func member(_ text: UnsafePointer<UInt8>, _ count: Int) -> JSONValue? {
        let tape = tape
        let node = tape.nodes[index]
        guard node.kind == .object else { return nil }
        var key = index + 1
        let end = Int(node.link)
        while key < end {
            if tape.isEqual(tape.nodes[key], text, count) { return JSONValue(tape: tape, index: key + 1) }
            key = tape.next(after: key + 1)
        }
        return nil
    }
}

extension JSONTape {
    @inline(__always) fileprivate func isEqual(_ node: JSONNode, _ text: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        guard Int(node.count) == count else { return false }
        let own = bytes + Int(node.link)
        for offset in 0..<count where own[offset] != text[offset] { return false }
        return true
    }
}
