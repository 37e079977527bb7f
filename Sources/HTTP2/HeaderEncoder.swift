/// Writes header blocks as HPACK (RFC 7541), one after the other as they leave: a peer's decoder keeps the same table.
///
/// Strings are written as they are, without Huffman's code: coding the path, the token and the id of each request took
/// more of a processor than all else that HTTP/2 does for it (decision 27).
struct HeaderEncoder {
    /// The prefixes of RFC 7541, section 6: the bits that say what follows, and how many are left for an index.
    private enum Form {
        static let indexed = (bits: UInt8(0x80), indexBits: 7)
        static let incremental = (bits: UInt8(0x40), indexBits: 6)
        static let withoutIndexing = (bits: UInt8(0), indexBits: 4)
        static let neverIndexed = (bits: UInt8(0x10), indexBits: 4)
        static let tableSize = (bits: UInt8(0x20), indexBits: 5)
        static let text = (bits: UInt8(0), indexBits: 7)
    }

    /// Bytes of an integer of up to 32 bits at most (RFC 7541, 5.1).
    private static let integerBytesMax = 6

    private var table = HeaderTable()
    /// What the table's size was set to since the last block: the smallest, and what it is now (RFC 7541, 4.2).
    private var newSizes: (least: Int, last: Int)?

    /// The peer's decoder has another limit. More than what everybody has is not made use of.
    mutating func limitTable(to bytes: UInt32) {
        let size = min(Int(bytes), HeaderTable.bytesDefault)
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
                place.integer(size, Form.tableSize)
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
        guard indexing == .indexed else { return write(name, value, as: Form.neverIndexed, to: &place) }
        if let index = table.index(of: name, value) { return place.integer(index, Form.indexed) }
        guard table.hasRoom(for: name, value) else { return write(name, value, as: Form.withoutIndexing, to: &place) }
        write(name, value, as: Form.incremental, to: &place)
        table.add(name, value)
    }

    private func write(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, as form: (bits: UInt8, indexBits: Int),
        to place: inout HeaderWriter
    ) {
        if let index = table.index(of: name) {
            place.integer(index, form)
        } else {
            place.integer(0, form)
            place.text(name, Form.text)
        }
        place.text(value, Form.text)
    }
}

/// Where the next byte of a block goes.
private struct HeaderWriter {
    private let space: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ space: UnsafeMutableRawBufferPointer) { self.space = space }

    /// RFC 7541, 5.1.
    mutating func integer(_ value: Int, _ form: (bits: UInt8, indexBits: Int)) {
        let max = (1 << form.indexBits) - 1
        guard value >= max else { return byte(form.bits | UInt8(truncatingIfNeeded: value)) }
        byte(form.bits | UInt8(truncatingIfNeeded: max))
        var rest = value - max
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        byte(UInt8(truncatingIfNeeded: rest))
    }

    /// RFC 7541, 5.2.
    mutating func text(_ text: UnsafeRawBufferPointer, _ form: (bits: UInt8, indexBits: Int)) {
        integer(text.count, form)
        UnsafeMutableRawBufferPointer(rebasing: space[count...]).copyMemory(from: text)
        count += text.count
    }

    private mutating func byte(_ byte: UInt8) {
        space[count] = byte
        count += 1
    }
}
