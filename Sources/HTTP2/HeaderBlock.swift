/// Header fields in the order of sending, in reusable storage. Names and values that are not constants share one array,
/// so a request needs no allocation once the storage has grown.
public struct HeaderBlock: Sendable {
    /// The HPACK representation of a field (RFC 7541, 6.1 and 6.2).
    public enum Indexing: Sendable {
        /// A field that may enter the peer's table and then needs about one byte. This case suits values that rarely
        /// change.
        case indexed
        /// A literal that is never indexed. This case suits secrets (RFC 7541, 7.1.3), and values that differ with
        /// each request and would only evict other entries.
        case never
    }

    /// A name or a value.
    enum Part {
        /// A constant of the program, which need not be copied.
        case constant(StaticString)
        case stored(start: Int, count: Int)

        var count: Int {
            switch self {
            case .constant(let text): text.utf8CodeUnitCount
            case .stored(_, let count): count
            }
        }

        var isConstant: Bool {
            if case .constant = self { true } else { false }
        }

        /// Returns the bytes of this part.
        ///
        /// - Parameter stored: the block's bytes.
        func bytes(in stored: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            switch self {
            case .constant(let text): UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            case .stored(let start, let count): UnsafeRawBufferPointer(rebasing: stored[start..<start + count])
            }
        }
    }

    struct Field {
        var name: Part
        var value: Part
        var indexing: Indexing
    }

    private(set) var bytes: [UInt8] = []
    private(set) var fields: [Field] = []

    public init() {}

    public var count: Int { fields.count }

    /// Removes all fields, and keeps the storage.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    /// Adds a field. The name must be lower case (RFC 9113, 8.2.1).
    public mutating func append(
        _ name: StaticString, _ value: UnsafeRawBufferPointer, indexing: Indexing = .indexed
    ) {
        append(.constant(name), value, indexing)
    }

    public mutating func append(_ name: StaticString, _ value: [UInt8], indexing: Indexing = .indexed) {
        value.withUnsafeBytes { append(.constant(name), $0, indexing) }
    }

    public mutating func append(_ name: StaticString, _ value: StaticString, indexing: Indexing = .indexed) {
        fields.append(Field(name: .constant(name), value: .constant(value), indexing: indexing))
    }

    /// Adds a field whose name is not a constant. This function allocates memory and is not for hot paths.
    public mutating func append(name: String, value: String, indexing: Indexing = .indexed) {
        let start = bytes.count
        bytes.append(contentsOf: name.utf8)
        let name = Part.stored(start: start, count: bytes.count - start)
        Array(value.utf8).withUnsafeBytes { append(name, $0, indexing) }
    }

    /// Adds a field whose value is a decimal number.
    public mutating func append(_ name: StaticString, _ value: Int64, indexing: Indexing = .indexed) {
        append(name, valueBytesMax: 20, indexing: indexing) { space in
            var magnitude = value.magnitude
            var start = space.count
            repeat {
                start -= 1
                space[start] = UInt8(ascii: "0") + UInt8(magnitude % 10)
                magnitude /= 10
            } while magnitude > 0
            if value < 0 {
                start -= 1
                space[start] = UInt8(ascii: "-")
            }
            let count = space.count - start
            for index in 0..<count { space[index] = space[start + index] }
            return count
        }
    }

    /// Adds a field whose value `write` writes in place, in at most `valueBytesMax` bytes. `write` returns the number
    /// of bytes written.
    public mutating func append(
        _ name: StaticString, valueBytesMax: Int, indexing: Indexing = .indexed,
        _ write: (UnsafeMutableRawBufferPointer) -> Int
    ) {
        let value = store(valueBytesMax, write)
        fields.append(Field(name: .constant(name), value: value, indexing: indexing))
    }

    private mutating func append(_ name: Part, _ value: UnsafeRawBufferPointer, _ indexing: Indexing) {
        let value = store(value.count) { space in
            space.copyMemory(from: value)
            return value.count
        }
        fields.append(Field(name: name, value: value, indexing: indexing))
    }

    private mutating func store(_ countMax: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Part {
        let start = bytes.count
        bytes.append(addingCapacity: countMax) { span in
            span.withUnsafeMutableBufferPointer { room, initialized in
                let room = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: room[..<countMax]))
                initialized = write(room)
                precondition(
                    initialized >= 0 && initialized <= countMax, "write returned a count outside the reserved space")
            }
        }
        return .stored(start: start, count: bytes.count - start)
    }

    /// Returns whether the bytes are a valid field value (RFC 9113, 8.2.1), without control characters except tab, and
    /// without whitespace at the ends. Check external values before sending them, since a peer resets the stream for
    /// an invalid value.
    public static func isWellFormedValue(_ value: UnsafeRawBufferPointer) -> Bool {
        let space = UInt8(ascii: " ")
        let tab = UInt8(ascii: "\t")
        guard value.first != space, value.first != tab, value.last != space, value.last != tab else { return false }
        return value.allSatisfy { $0 >= space && $0 != 0x7F || $0 == tab }
    }
}
