internal import CNGHTTP2

/// Header fields in nghttp2's form, in storage that is used again. They point into the block that they were made of.
struct FieldArray: ~Copyable {
    private var storage = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: 32)
    private var count = 0

    deinit { storage.deallocate() }

    /// Hands `block` to `body`, behind `:status` where one is given; nghttp2 copies what it keeps.
    mutating func with<Result>(
        _ block: HeaderBlock, status: [UInt8] = [], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result
    ) -> Result {
        reserve(block.fields.count + 1)
        count = 0
        return block.bytes.withUnsafeBufferPointer { bytes in
            status.withUnsafeBufferPointer { status in
                if !status.isEmpty {
                    let name: StaticString = ":status"
                    let nameBytes = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
                    append(name: nameBytes[...], value: status[...], .indexed)
                }
                for field in block.fields {
                    let valueStart = field.start + field.nameCount
                    append(
                        name: bytes[field.start..<valueStart],
                        value: bytes[valueStart..<(valueStart + field.valueCount)],
                        field.indexing)
                }
                return body(UnsafePointer(storage.baseAddress), count)
            }
        }
    }

    private mutating func append(
        name: Slice<UnsafeBufferPointer<UInt8>>, value: Slice<UnsafeBufferPointer<UInt8>>,
        _ indexing: HeaderBlock.Indexing
    ) {
        let flag = indexing == .never ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
        storage.initializeElement(
            at: count,
            to: nghttp2_nv(
                name: UnsafeMutablePointer(mutating: UnsafeBufferPointer(rebasing: name).baseAddress),
                value: UnsafeMutablePointer(mutating: UnsafeBufferPointer(rebasing: value).baseAddress),
                namelen: name.count, valuelen: value.count, flags: UInt8(flag.rawValue)))
        count += 1
    }

    private mutating func reserve(_ needed: Int) {
        guard needed > storage.count else { return }
        storage.deallocate()
        storage = .allocate(capacity: max(needed, storage.count * 2))
    }
}
