/// A value as its tape has it, lent by whoever keeps the tape: a look at it counts no reference. Valid as long as the
/// tape lives and until its parser reads the next text, which nobody checks; a ``JSONValue`` is for all who cannot be sure.
@frozen public struct JSONNodeView {
    @usableFromInline let tape: JSONTapeView
    @usableFromInline let index: Int

    @inlinable init(_ tape: JSONTapeView, _ index: Int) {
        self.tape = tape
        self.index = index
    }

    @inlinable var node: JSONNode { tape.nodes[index] }

    @inlinable public var kind: JSONKind { node.kind }

    /// Where the value stands in the bytes that were parsed.
    @inlinable public var sourceRange: Range<Int> { node.start..<Int(node.end) }

    /// The text of a string, its escapes decoded.
    public var string: String? { node.kind == .string ? tape.string(at: index) : nil }

    /// The text of a string in UTF-8, its escapes decoded, without a copy; the pointer is valid as this is.
    @inlinable public var text: UnsafeRawBufferPointer? { node.kind == .string ? tape.text(of: index) : nil }

    /// A number that is a whole one of 64 bits, also when written as `1.0` or `1e3`.
    public var int64: Int64? {
        guard node.kind == .number else { return nil }
        return tape.plainInteger(at: index) ?? tape.number(at: index).int64
    }
}
