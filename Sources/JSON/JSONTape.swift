public enum JSONKind: UInt8, Sendable {
    case null
    case boolean
    case number
    case string
    case array
    case object
}

/// One value or key of a parsed text. An object's members follow it as key, value, key, value; an array's elements
/// follow it one after the other; each with all that is inside it.
@frozen public struct JSONNode {
    /// Offset of the first source byte, times 16, plus the kind.
    @usableFromInline var head: UInt32
    /// Offset behind the last source byte.
    public var end: UInt32
    /// Array, object: index of the node behind everything inside (while it is being read: of its parent).
    /// String: offset of its text, without quotes and with escapes decoded, in the tape's bytes.
    public var link: UInt32
    /// Array, object: how many elements or members. String: bytes of its text. Boolean: 0 or 1.
    /// Number: 1 for digits alone or with a minus before them.
    public var count: UInt32

    @inlinable init(_ kind: JSONKind, start: Int, end: Int, link: UInt32 = 0, count: UInt32 = 0) {
        self.head = UInt32(truncatingIfNeeded: start) << 4 | UInt32(kind.rawValue)
        self.end = UInt32(truncatingIfNeeded: end)
        self.link = link
        self.count = count
    }

    @inlinable public var kind: JSONKind { unsafeBitCast(UInt8(truncatingIfNeeded: head & 15), to: JSONKind.self) }
    @inlinable public var start: Int { Int(head >> 4) }
    @inlinable public var isContainer: Bool { head & 15 >= UInt32(JSONKind.array.rawValue) }
}

/// The memory behind the values of one text: a copy of its bytes, zeros behind them, the texts of strings that had
/// escapes, and the nodes. A parser fills the same tape again and again; a document's is filled once.
///
/// The pointers are valid until the next `prepare` and as long as the tape lives.
package final class JSONTape {
    private(set) var nodes: UnsafeMutablePointer<JSONNode>
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    package internal(set) var nodeCount = 0
    private(set) var byteCount = 0
    /// Tells a value of this text from one of the text before.
    private(set) var generation: UInt32 = 0
    /// Where the next string with escapes is decoded to.
    var decodedEnd = 0

    private(set) var nodeCapacity: Int
    private(set) var byteCapacity: Int

    /// Zeros behind the source: a scan stops at them, and words of eight bytes can be loaded from any byte of a string.
    static let padding = 16
    /// Memory for bytes, or for nodes, that grew beyond this for one text shrinks again for the next.
    static let keptBytesMax = 256 << 10
    private static let keptNodesMax = keptBytesMax / MemoryLayout<JSONNode>.stride

    init() {
        nodeCapacity = 64
        byteCapacity = 2048
        nodes = .allocate(capacity: nodeCapacity)
        bytes = .allocate(capacity: byteCapacity)
    }

    deinit {
        nodes.deallocate()
        bytes.deallocate()
    }

    /// Takes a copy of a text that is no longer than `limits.bytesMax` and makes room for all of its nodes.
    func prepare(_ source: UnsafeRawBufferPointer, limits: JSONLimits) {
        generation &+= 1
        nodeCount = 0
        byteCount = source.count
        // No decoded string is longer than its source.
        let byteNeed = 2 * byteCount + 2 * Self.padding
        // Each value and key but the first of a container has a separator of a byte before it and is at least a byte
        // itself, a closed container two. So N nodes, of which O are containers still open, have taken at least
        // 2N - O - 1 bytes.
        let nodeNeed = (byteCount + limits.depthMax + 2) / 2 + 2
        if byteNeed > byteCapacity || (byteCapacity > Self.keptBytesMax && byteNeed <= Self.keptBytesMax) {
            bytes.deallocate()
            byteCapacity = max(byteNeed, 2048)
            bytes = .allocate(capacity: byteCapacity)
        }
        if nodeNeed > nodeCapacity || (nodeCapacity > Self.keptNodesMax && nodeNeed <= Self.keptNodesMax) {
            nodes.deallocate()
            nodeCapacity = max(nodeNeed, 64)
            nodes = .allocate(capacity: nodeCapacity)
        }
        let target = UnsafeMutableRawBufferPointer(start: bytes, count: byteCount)
        target.copyMemory(from: source)
        (bytes + byteCount).initialize(repeating: 0, count: Self.padding)
        decodedEnd = byteCount + Self.padding
    }

    @inline(__always) func append(_ node: JSONNode) {
        assert(nodeCount < nodeCapacity)
        (nodes + nodeCount).initialize(to: node)
        nodeCount &+= 1
    }

    var source: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: bytes, count: byteCount) }

    /// The node behind this one and everything inside it.
    @inline(__always) func next(after index: Int) -> Int { view.next(after: index) }

    /// The number at `index`; valid as the pointers are.
    @inline(__always) func number(at index: Int) -> JSONNumber { view.number(at: index) }

    package var view: JSONTapeView { JSONTapeView(nodes: nodes, bytes: bytes) }
}

/// A tape's pointers alone, for `JSONNodeView` and for `JSONSchema`, which looks at nodes without a reference count for each.
/// Public because only what is public is inlined there; but nobody outside of this package can get one.
/// Valid until the tape's next `prepare` and as long as the tape lives.
@frozen public struct JSONTapeView {
    public let nodes: UnsafePointer<JSONNode>
    public let bytes: UnsafePointer<UInt8>

    @inlinable init(nodes: UnsafePointer<JSONNode>, bytes: UnsafePointer<UInt8>) {
        self.nodes = nodes
        self.bytes = bytes
    }

    /// The node behind this one and everything inside it.
    @inlinable @inline(__always) public func next(after index: Int) -> Int {
        nodes[index].isContainer ? Int(nodes[index].link) : index &+ 1
    }

    /// The text of a string or key.
    @inlinable @inline(__always) public func text(of index: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + Int(nodes[index].link), count: Int(nodes[index].count))
    }

    @inlinable @inline(__always) public func keyWords(of index: Int) -> KeyFingerprint {
        KeyFingerprint(padded: bytes + Int(nodes[index].link), count: nodes[index].count)
    }

    @inlinable @inline(__always) public func keyHash(of index: Int, _ words: KeyFingerprint) -> UInt64 {
        words.hash(padded: bytes + Int(nodes[index].link))
    }

    package func number(at index: Int) -> JSONNumber {
        let node = nodes[index]
        return JSONNumber(UnsafeRawBufferPointer(start: bytes + node.start, count: Int(node.end) - node.start))
    }

    /// The quick way for a number of up to 18 characters without a fraction or exponent; nil for all others.
    public func plainInteger(at index: Int) -> Int64? {
        let digits = source(of: index)
        guard nodes[index].count == 1, digits.count <= 18 else { return nil }
        var value: Int64 = 0
        for byte in digits where byte != UInt8(ascii: "-") {
            value = value &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
        }
        return digits[0] == UInt8(ascii: "-") ? -value : value
    }

    public func string(at index: Int) -> String { String(decoding: text(of: index), as: UTF8.self) }

    /// A value as it was written.
    public func source(of index: Int) -> UnsafeRawBufferPointer {
        let node = nodes[index]
        return UnsafeRawBufferPointer(start: bytes + node.start, count: Int(node.end) - node.start)
    }
}
