public import Hashing

extension SecretMixer {
    /// The hash of a text by its fingerprint, and by all of it where that does not say all.
    @inlinable @inline(__always) public func hash(_ words: KeyFingerprint, _ text: UnsafeRawBufferPointer) -> UInt64 {
        words.count <= 16 ? mix(words.first ^ UInt64(words.count) << 56, words.last) : hash(text)
    }
}
