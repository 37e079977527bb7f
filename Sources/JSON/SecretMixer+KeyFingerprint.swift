public import Hashing

extension SecretMixer {
    /// Returns the hash of a text. If the text has at most 16 bytes, this is the hash of its fingerprint, otherwise the
    /// hash of all bytes.
    @inlinable @inline(__always) public func hash(_ words: KeyFingerprint, _ text: UnsafeRawBufferPointer) -> UInt64 {
        words.count <= 16 ? mix(words.first ^ UInt64(words.count) << 56, words.last) : hash(text)
    }
}
