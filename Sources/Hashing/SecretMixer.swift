/// A keyed 64-bit hash for hash tables and fingerprints. Each mixer has its own random secrets, so senders cannot
/// choose values that collide. The probability that two different values have equal hashes is about 2⁻⁶⁴.
@frozen public struct SecretMixer: Sendable {
    @usableFromInline let first: UInt64
    @usableFromInline let second: UInt64

    public init() {
        first = .random(in: .min ... .max)
        second = .random(in: .min ... .max)
    }

    /// Returns the combined halves of a full-width product. The result depends on all bits of both words.
    @inlinable @inline(__always) public func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let product = (one ^ first).multipliedFullWidth(by: other ^ second)
        return product.high ^ product.low
    }

    /// Returns the hash of `bytes`, which also depends on `start`. If there are at least 16 bytes, each step reads 16
    /// bytes. The last step reads the last 16 bytes, which may overlap the bytes of the previous step.
    public func hash(_ bytes: UnsafeRawBufferPointer, after start: UInt64 = 0) -> UInt64 {
        func word(at offset: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
        let count = bytes.count
        var state = mix(start, UInt64(count))
        guard count >= 16 else {
            guard count >= 8 else { return mix(state, bytes.reduce(0) { $0 << 8 | UInt64($1) }) }
            return mix(state ^ word(at: 0), word(at: count - 8))
        }
        let last = count - 16
        var offset = 0
        while offset < last {
            state = mix(state ^ word(at: offset), word(at: offset + 8))
            offset += 16
        }
        return mix(state ^ word(at: last), word(at: last + 8))
    }
}
