/// Writes header blocks as HPACK (RFC 7541), one after the other as they leave: a peer's decoder keeps the same table.
///
/// Strings are written as they are, without Huffman's code: coding the path, the token and the id of each request was a
/// third of what HTTP/2 cost (decision 27).
struct HeaderEncoder {
    /// The first bits of what follows, and how many are left of their byte for the integer (RFC 7541, 5.1 and 6).
    private typealias Prefix = (pattern: UInt8, bits: Int)
    private static let indexed: Prefix = (0x80, 7)
    private static let incremental: Prefix = (0x40, 6)
    private static let withoutIndexing: Prefix = (0, 4)
    private static let neverIndexed: Prefix = (0x10, 4)
    private static let sizeUpdate: Prefix = (0x20, 5)

    /// Bytes of an integer of up to 32 bits at most (RFC 7541, 5.1).
    private static let integerBytesMax = 6

    private var table = DynamicTable()
    /// What the table's size became since the last block: the smallest, and what it is now (RFC 7541, 4.2).
    private var newSizes: (least: Int, last: Int)?

    /// The peer's decoder has another limit. More than what everybody has is not made use of.
    mutating func limitTable(to bytes: UInt32) {
        let size = min(Int(bytes), DynamicTable.bytesDefault)
        guard size != newSizes?.last ?? table.bytesMax else { return }
        newSizes = (min(size, newSizes?.least ?? size), size)
    }

    /// Bytes that the block takes at most.
    static func bytesMax(of block: HeaderBlock) -> Int {
        block.fields.reduce(2 * integerBytesMax) { sum, field in
            sum + 3 * integerBytesMax + field.name.count + field.value.count
        }
    }

    /// Writes the block; there must be room for `bytesMax(of:)`. Returns how many bytes it wrote.
    mutating func write(_ block: HeaderBlock, to space: UnsafeMutableRawBufferPointer) -> Int {
        var place = HeaderWriter(space)
        if let (least, last) = newSizes {
            for size in least < last ? [least, last] : [last] {
                place.integer(size, Self.sizeUpdate)
                table.resize(size)
            }
            newSizes = nil
        }
        block.bytes.withUnsafeBytes { stored in
            for field in block.fields {
                write(field.name.bytes(in: stored), field.value.bytes(in: stored), field.indexing, to: &place)
            }
        }
        return place.count
    }

    private mutating func write(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ indexing: HeaderBlock.Indexing,
        to place: inout HeaderWriter
    ) {
        // A peer resets the stream for a capital (RFC 9113, 8.2.1).
        assert(name.allSatisfy { !(0x41...0x5A ~= $0) })
        guard indexing == .indexed else { return write(name, value, as: Self.neverIndexed, to: &place) }
        if let index = table.index(of: name, value) { return place.integer(index, Self.indexed) }
        guard table.hasRoom(for: name, value) else { return write(name, value, as: Self.withoutIndexing, to: &place) }
        write(name, value, as: Self.incremental, to: &place)
        table.insert(name, value)
    }

    private func write(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, as prefix: Prefix,
        to place: inout HeaderWriter
    ) {
        if let index = table.index(of: name) {
            place.integer(index, prefix)
        } else {
            place.integer(0, prefix)
            place.text(name)
        }
        place.text(value)
    }
}

/// Where the next byte of a block goes.
private struct HeaderWriter {
    private let space: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ space: UnsafeMutableRawBufferPointer) { self.space = space }

    /// RFC 7541, 5.1.
    mutating func integer(_ value: Int, _ prefix: (pattern: UInt8, bits: Int)) {
        let max = (1 << prefix.bits) - 1
        guard value >= max else { return byte(prefix.pattern | UInt8(truncatingIfNeeded: value)) }
        byte(prefix.pattern | UInt8(truncatingIfNeeded: max))
        var rest = value - max
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        byte(UInt8(truncatingIfNeeded: rest))
    }

    /// RFC 7541, 5.2; the first bit would say that Huffman's code follows.
    mutating func text(_ text: UnsafeRawBufferPointer) {
        integer(text.count, (pattern: 0, bits: 7))
        UnsafeMutableRawBufferPointer(rebasing: space[count...]).copyMemory(from: text)
        count += text.count
    }

    private mutating func byte(_ byte: UInt8) {
        space[count] = byte
        count += 1
    }
}
