/// Mixes words for hash tables: equal ones to equal ones. Nobody can send values that collide, because nobody knows the
/// secrets, which are others in each process and for each table.
@frozen public struct SecretMixer: Sendable {
    @usableFromInline let first: UInt64
    @usableFromInline let second: UInt64

    public init() {
        first = .random(in: .min ... .max)
        second = .random(in: .min ... .max)
    }

    /// Both halves of a product, which depend on all bits of both words.
    @inlinable @inline(__always) public func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let product = (one ^ first).multipliedFullWidth(by: other ^ second)
        return product.high ^ product.low
    }

    /// The hash of a text by its fingerprint, and by all of it where that does not say all.
    @inlinable @inline(__always) public func hash(_ words: KeyFingerprint, _ text: UnsafeRawBufferPointer) -> UInt64 {
        words.count <= 16 ? mix(words.first ^ UInt64(words.count) << 56, words.last) : hash(text)
    }

    /// The hash of bytes, sixteen a step.
    public func hash(_ bytes: UnsafeRawBufferPointer, after start: UInt64 = 0) -> UInt64 {
        var state = mix(start, UInt64(bytes.count))
        var offset = 0
        while offset + 16 <= bytes.count {
            state = mix(
                state ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
            offset += 16
        }
        if offset + 8 <= bytes.count {
            state = mix(state, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return mix(state, rest)
    }
}
