internal import CNGHTTP2

/// Header fields in nghttp2's form, in reusable storage. The fields do not own their names and values.
struct FieldArray: ~Copyable {
    private var storage = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: 32)
    private var count = 0

    deinit { storage.deallocate() }

    /// Calls `body` with `:status` and the fields of `block`. nghttp2 copies names and values, except constants.
    mutating func with<Result>(
        _ block: HeaderBlock, status: [UInt8], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result
    ) -> Result {
        reserve(block.fields.count + 1)
        count = 0
        return block.bytes.withUnsafeBytes { bytes in
            status.withUnsafeBytes { status in
                let value = HeaderBlock.Part.stored(start: 0, count: status.count)
                append(HeaderBlock.Field(name: .constant(":status"), value: value, indexing: .indexed), status)
                for field in block.fields { append(field, bytes) }
                return body(UnsafePointer(storage.baseAddress), count)
            }
        }
    }

    private mutating func append(_ field: HeaderBlock.Field, _ stored: UnsafeRawBufferPointer) {
        let (name, value) = (field.name.bytes(in: stored), field.value.bytes(in: stored))
        var flags = field.indexing == .never ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : NGHTTP2_NV_FLAG_NONE.rawValue
        if field.name.isConstant {
            // nghttp2 lowercases only names that it copies, and a peer resets the stream for an upper-case letter.
            assert(name.allSatisfy { !(0x41...0x5A ~= $0) })
            flags |= NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue
        }
        if field.value.isConstant { flags |= NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue }
        storage.initializeElement(
            at: count,
            to: nghttp2_nv(
                name: Self.place(of: name), value: Self.place(of: value),
                namelen: name.count, valuelen: value.count, flags: UInt8(flags)))
        count += 1
    }

    /// Returns a mutable pointer, as nghttp2's type requires. nghttp2 does not modify the memory.
    private static func place(of text: UnsafeRawBufferPointer) -> UnsafeMutablePointer<UInt8>? {
        UnsafeMutablePointer(mutating: text.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }

    private mutating func reserve(_ needed: Int) {
        guard needed > storage.count else { return }
        storage.deallocate()
        storage = .allocate(capacity: max(needed, storage.count * 2))
    }
}
