internal import CNGHTTP2

/// Header fields in nghttp2's form, in storage that is used again. They point into the block that they were made of.
struct FieldArray: ~Copyable {
    private var storage = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: 32)
    private var count = 0

    deinit { storage.deallocate() }

    /// Hands `block` to `body`, behind `:status`; nghttp2 copies what it keeps, but for constants.
    mutating func with<Result>(
        _ block: HeaderBlock, status: [UInt8], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result
    ) -> Result {
        reserve(block.fields.count + 1)
        count = 0
        return block.bytes.withUnsafeBufferPointer { bytes in
            status.withUnsafeBufferPointer { status in
                let value = HeaderBlock.Part.stored(start: 0, count: status.count)
                append(HeaderBlock.Field(name: .constant(":status"), value: value, indexing: .indexed), status)
                for field in block.fields { append(field, bytes) }
                return body(UnsafePointer(storage.baseAddress), count)
            }
        }
    }

    private mutating func append(_ field: HeaderBlock.Field, _ stored: UnsafeBufferPointer<UInt8>) {
        let (name, value) = (Self.place(of: field.name, stored), Self.place(of: field.value, stored))
        var flags = field.indexing == .never ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : NGHTTP2_NV_FLAG_NONE.rawValue
        if name.isConstant {
            // nghttp2 makes only what it copies lower-case, and a peer resets the stream for a capital.
            assert(UnsafeBufferPointer(start: name.start, count: name.count).allSatisfy { !(0x41...0x5A ~= $0) })
            flags |= NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue
        }
        if value.isConstant { flags |= NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue }
        storage.initializeElement(
            at: count,
            to: nghttp2_nv(
                name: UnsafeMutablePointer(mutating: name.start), value: UnsafeMutablePointer(mutating: value.start),
                namelen: name.count, valuelen: value.count, flags: UInt8(flags)))
        count += 1
    }

    private static func place(
        of part: HeaderBlock.Part, _ stored: UnsafeBufferPointer<UInt8>
    ) -> (start: UnsafePointer<UInt8>?, count: Int, isConstant: Bool) {
        switch part {
        case .constant(let text): (text.utf8Start, text.utf8CodeUnitCount, true)
        case .stored(let start, let count): (stored.baseAddress.map { $0 + start }, count, false)
        }
    }

    private mutating func reserve(_ needed: Int) {
        guard needed > storage.count else { return }
        storage.deallocate()
        storage = .allocate(capacity: max(needed, storage.count * 2))
    }
}
