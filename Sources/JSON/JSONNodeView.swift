/// An unowned view of a value on its tape, without reference counting. Valid while the tape lives and until its parser
/// reads the next text. Later use is not detected. Use a ``JSONValue`` if the lifetime is not certain.
@frozen public struct JSONNodeView {
    @usableFromInline let tape: JSONTapeView
    @usableFromInline let index: Int

    @inlinable init(_ tape: JSONTapeView, _ index: Int) {
        self.tape = tape
        self.index = index
    }

    @inlinable var node: JSONNode { tape.nodes[index] }

    @inlinable public var kind: JSONKind { node.kind }

    /// The range of the value in the parsed bytes.
    @inlinable public var sourceRange: Range<Int> { node.start..<Int(node.end) }

    /// The text of a string with escapes decoded; nil for other values.
    public var string: String? { node.kind == .string ? tape.string(at: index) : nil }

    /// The text of a string in UTF-8 with escapes decoded, without a copy; nil for other values. The pointer is valid
    /// as long as this view.
    @inlinable public var text: UnsafeRawBufferPointer? { node.kind == .string ? tape.text(of: index) : nil }

    /// The value of a whole 64-bit number, also if written as `1.0` or `1e3`; nil for other values.
    public var int64: Int64? {
        guard node.kind == .number else { return nil }
        return tape.plainInteger(at: index) ?? tape.number(at: index).int64
    }
}
