public enum JSONKind: UInt8, Sendable {
    case null
    case boolean
    case number
    case string
    case array
    case object
}

/// One value or key of a parsed text. The members of an object follow its node as key, value, key, value. The elements
/// of an array follow its node in order. The contents of each member and element follow the node of that value.
@frozen public struct JSONNode {
    /// The offset of the first source byte, times 16, plus the kind.
    @usableFromInline var head: UInt32
    /// The offset after the last source byte.
    public var end: UInt32
    /// Array, object: the index of the node after all contents, or of the parent while the container is open.
    /// String: the offset of its decoded text, without quotes, in the tape's bytes.
    public var link: UInt32
    /// Array, object: the number of elements or members. String: the number of bytes of its text. Boolean: 0 or 1.
    /// Number: 1 if it has neither a fraction nor an exponent, else 0.
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

/// The memory of the nodes and the bytes of one text. The bytes are a copy of the text, then zeros, then the decoded
/// strings. A parser refills the same tape. The tape of a document is filled once.
///
/// The pointers are valid until the next `prepare`, while the tape lives.
package final class JSONTape {
    private(set) var nodes: UnsafeMutablePointer<JSONNode>
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    package internal(set) var nodeCount = 0
    private(set) var byteCount = 0
    /// A number that distinguishes values of this text from values of previous texts.
    private(set) var generation: UInt32 = 0
    /// The position for the next decoded string.
    var decodedEnd = 0

    private(set) var nodeCapacity: Int
    private(set) var byteCapacity: Int

    /// The number of zeros after the source. The zeros stop each scan, and allow loads of eight bytes from any byte of
    /// a string.
    static let padding = 16
    /// The size above which the memory for bytes shrinks for the next text that needs at most this size.
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

    /// Copies a text of at most `limits.bytesMax` bytes and reserves memory for all of its nodes.
    func prepare(_ source: UnsafeRawBufferPointer, limits: JSONLimits) {
        generation &+= 1
        nodeCount = 0
        byteCount = source.count
        // A decoded string is never longer than its source.
        let byteNeed = 2 * byteCount + 2 * Self.padding
        // Every value and key has at least one byte. A closed container has two. Except for the first value or key of a
        // container, each follows a separator of one byte. So N nodes, O of which are open containers, have consumed at
        // least 2N - O - 1 bytes.
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

    /// Returns the index of the node after the node at `index` and its contents.
    @inline(__always) func next(after index: Int) -> Int { view.next(after: index) }

    /// Returns the number at `index`. The number borrows the tape's bytes.
    @inline(__always) func number(at index: Int) -> JSONNumber { view.number(at: index) }

    package var view: JSONTapeView { JSONTapeView(nodes: nodes, bytes: bytes) }
}

/// The pointers of a tape, for `JSONNodeView` and for `JSONSchema`, which reads nodes without reference counting.
/// Public only to be inlinable. It has no public initializer. Valid until the tape's next `prepare`, while the tape
/// lives.
@frozen public struct JSONTapeView {
    public let nodes: UnsafePointer<JSONNode>
    public let bytes: UnsafePointer<UInt8>

    @inlinable init(nodes: UnsafePointer<JSONNode>, bytes: UnsafePointer<UInt8>) {
        self.nodes = nodes
        self.bytes = bytes
    }

    /// Returns the index of the node after the node at `index` and its contents.
    @inlinable @inline(__always) public func next(after index: Int) -> Int {
        nodes[index].isContainer ? Int(nodes[index].link) : index &+ 1
    }

    /// Returns the text of a string or key.
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

    /// Returns a number of up to 18 characters without a fraction or exponent; nil for all other numbers.
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

    public func source(of index: Int) -> UnsafeRawBufferPointer {
        let node = nodes[index]
        return UnsafeRawBufferPointer(start: bytes + node.start, count: Int(node.end) - node.start)
    }
}
