/// Header fields in the order in which they are sent, in storage that is meant to be used again: the bytes of what is no
/// constant are laid out one after another, so that a request costs no allocation once the storage has grown.
public struct HeaderBlock: Sendable {
    /// How a field is written by HPACK (RFC 7541, 6.2).
    public enum Indexing: Sendable {
        /// May enter the peer's table, after which it takes one byte: for values that stay the same.
        case indexed
        /// Literal and never indexed: for secrets (RFC 7541, 7.1.3), and for values that differ with each request, which
        /// would only push others out of the table.
        case never
    }

    /// A name or a value.
    enum Part {
        /// There as long as the process: nobody has to copy it.
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

    /// Takes all fields out and keeps the storage.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
    }

    /// Adds a field. The name is lower case, as HTTP/2 demands.
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

    /// Adds a field whose name is known at run time only, off the hot path.
    public mutating func append(name: String, value: String, indexing: Indexing = .indexed) {
        let start = bytes.count
        bytes.append(contentsOf: name.utf8)
        let name = Part.stored(start: start, count: bytes.count - start)
        Array(value.utf8).withUnsafeBytes { append(name, $0, indexing) }
    }

    /// Adds a field whose value is the decimal number.
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

    /// Adds a field whose value `write` puts together in place, in at most `valueBytesMax` bytes; it returns how many
    /// it wrote.
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
                precondition(initialized >= 0 && initialized <= countMax, "more bytes than there was room for")
            }
        }
        return .stored(start: start, count: bytes.count - start)
    }

    /// Whether a peer takes these bytes as a field's value: no control characters other than tab, no white space at the
    /// ends (RFC 9113, 8.2.1). A value from outside is checked before it is sent, since the peer would only reset the
    /// stream.
    public static func isWellFormedValue(_ value: UnsafeRawBufferPointer) -> Bool {
        let space = UInt8(ascii: " ")
        let tab = UInt8(ascii: "\t")
        guard value.first != space, value.first != tab, value.last != space, value.last != tab else { return false }
        return value.allSatisfy { $0 >= space && $0 != 0x7F || $0 == tab }
    }
}
