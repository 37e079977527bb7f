/// An encoder of header blocks with HPACK (RFC 7541). Blocks must be encoded in the order of sending, since the peer's
/// decoder maintains the same table.
///
/// Strings are not Huffman-coded. The coding would take a tenth of the instructions of each request (decision 27).
struct HeaderEncoder {
    /// The leading bits of a representation, and the number of bits left for the integer (RFC 7541, 5.1 and 6).
    private typealias Prefix = (pattern: UInt8, bits: Int)
    private static let indexed: Prefix = (0x80, 7)
    private static let incremental: Prefix = (0x40, 6)
    private static let withoutIndexing: Prefix = (0, 4)
    private static let neverIndexed: Prefix = (0x10, 4)
    private static let sizeUpdate: Prefix = (0x20, 5)

    /// Maximum length of an encoded integer of up to 32 bits (RFC 7541, 5.1).
    private static let integerBytesMax = 6

    private var table = DynamicTable()
    /// The smallest and the current table size since the last block; nil if the size has not changed (RFC 7541, 4.2).
    private var newSizes: (least: Int, last: Int)?

    /// Sets the table size for the next block and later blocks. The size is the limit of the peer's decoder, but at
    /// most the default size.
    mutating func limitTable(to bytes: UInt32) {
        let size = min(Int(bytes), DynamicTable.bytesDefault)
        guard size != newSizes?.last ?? table.bytesMax else { return }
        newSizes = (min(size, newSizes?.least ?? size), size)
    }

    /// Returns an upper bound of the size of the encoded block.
    static func bytesMax(of block: HeaderBlock) -> Int {
        block.fields.reduce(2 * integerBytesMax) { sum, field in
            sum + 3 * integerBytesMax + field.name.count + field.value.count
        }
    }

    /// Encodes the block. `space` must have at least `bytesMax(of:)` bytes. Returns the number of bytes written.
    mutating func write(_ block: HeaderBlock, to space: UnsafeMutableRawBufferPointer) -> Int {
        var writer = HeaderWriter(space)
        if let (least, last) = newSizes {
            for size in least < last ? [least, last] : [last] {
                writer.integer(size, Self.sizeUpdate)
                table.resize(size)
            }
            newSizes = nil
        }
        block.bytes.withUnsafeBytes { stored in
            for field in block.fields {
                write(field.name.bytes(in: stored), field.value.bytes(in: stored), field.indexing, to: &writer)
            }
        }
        return writer.count
    }

    private mutating func write(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ indexing: HeaderBlock.Indexing,
        to writer: inout HeaderWriter
    ) {
        // A peer resets the stream for an upper-case letter (RFC 9113, 8.2.1).
        assert(name.allSatisfy { !(0x41...0x5A ~= $0) })
        guard indexing == .indexed else { return write(name, value, as: Self.neverIndexed, to: &writer) }
        if let index = table.index(of: name, value) { return writer.integer(index, Self.indexed) }
        guard table.hasRoom(for: name, value) else { return write(name, value, as: Self.withoutIndexing, to: &writer) }
        write(name, value, as: Self.incremental, to: &writer)
        table.insert(name, value)
    }

    private func write(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, as prefix: Prefix,
        to writer: inout HeaderWriter
    ) {
        if let index = table.index(of: name) {
            writer.integer(index, prefix)
        } else {
            writer.integer(0, prefix)
            writer.text(name)
        }
        writer.text(value)
    }
}

/// A writer of HPACK primitives to memory.
private struct HeaderWriter {
    private let space: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ space: UnsafeMutableRawBufferPointer) { self.space = space }

    /// Writes an integer (RFC 7541, 5.1).
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

    /// Writes a string literal (RFC 7541, 5.2). The first bit is 0, because the text is not Huffman-coded.
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
