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
        words.count <= 16 ? mix(words.first ^ UInt64(words.count) << 56, words.last) : longHash(text)
    }

    @usableFromInline func longHash(_ text: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: text)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
