internal import COpenSSL

/// A UUID (RFC 9562): 16 bytes by value. Each delivery has a UUID, so parsing bytes and writing to a buffer allocate
/// nothing.
public struct UUIDValue: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Length of the text form, `8-4-4-4-12` hexadecimal digits.
    public static let textBytes = 36

    /// The digest SHA-1 of OpenSSL. `SHA1` would search for it in each call, which takes longer than hashing a short
    /// message.
    /// `nonisolated(unsafe)`: an `EVP_MD` is immutable.
    private nonisolated(unsafe) static let sha1 = EVP_MD_fetch(nil, "SHA1", nil) ?? EVP_sha1()

    /// The first eight bytes as a big-endian number.
    public let high: UInt64
    /// The last eight bytes as a big-endian number.
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses the canonical text, with digits of either case. Returns nil for other forms, such as braces,
    /// `urn:uuid:`, missing hyphens or white space.
    public init?(_ text: UnsafeRawBufferPointer) {
        guard text.count == Self.textBytes else { return nil }
        let hyphen = UInt8(ascii: "-")
        guard text[8] == hyphen, text[13] == hyphen, text[18] == hyphen, text[23] == hyphen else { return nil }
        func eight(_ first: Int, _ second: Int) -> UInt64 {
            UInt64(text.loadUnaligned(fromByteOffset: first, as: UInt32.self).bigEndian) << 32
                | UInt64(text.loadUnaligned(fromByteOffset: second, as: UInt32.self).bigEndian)
        }
        guard let first = HexDigits.value(eight(0, 4)), let second = HexDigits.value(eight(9, 14)),
            let third = HexDigits.value(eight(19, 24)), let fourth = HexDigits.value(eight(28, 32))
        else { return nil }
        self.init(high: first << 32 | second, low: third << 32 | fourth)
    }

    /// Parses the canonical text in a string.
    public init?(_ text: some StringProtocol) {
        let parsed = text.utf8.withContiguousStorageIfAvailable { UUIDValue(UnsafeRawBufferPointer($0)) }
        guard let value = parsed ?? Array(text.utf8).withUnsafeBytes({ UUIDValue($0) }) else { return nil }
        self = value
    }

    /// Returns a random UUID (version 4).
    ///
    /// - Throws: `failed`, like ``SecureRandom/bytes(count:)``.
    public static func random() throws(CryptoError) -> UUIDValue {
        var halves: (UInt64, UInt64) = (0, 0)
        try withUnsafeMutableBytes(of: &halves) { (buffer) throws(CryptoError) in try SecureRandom.fill(buffer) }
        return UUIDValue(high: halves.0, low: halves.1).stamped(version: 4)
    }

    /// Creates the UUID of `name` within `namespace` (version 5, SHA-1). Equal arguments give equal UUIDs.
    public init(name: UnsafeRawBufferPointer, namespace: UUIDValue) {
        self = withUnsafeTemporaryAllocation(byteCount: 16 + name.count, alignment: 8) { buffer in
            buffer.storeBytes(of: namespace.high.bigEndian, as: UInt64.self)
            buffer.storeBytes(of: namespace.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            UnsafeMutableRawBufferPointer(rebasing: buffer[16...]).copyMemory(from: name)
            var digest: (UInt64, UInt64, UInt32) = (0, 0, 0)
            withUnsafeMutableBytes(of: &digest) { digest in
                _ = EVP_Digest(
                    buffer.baseAddress, buffer.count, digest.baseAddress?.assumingMemoryBound(to: UInt8.self), nil,
                    Self.sha1, nil)
            }
            return UUIDValue(high: UInt64(bigEndian: digest.0), low: UInt64(bigEndian: digest.1)).stamped(version: 5)
        }
    }

    /// Creates the UUID of a string within `namespace` (version 5).
    public init(name: String, namespace: UUIDValue) {
        var name = name
        self = name.withUTF8 { UUIDValue(name: UnsafeRawBufferPointer($0), namespace: namespace) }
    }

    /// Writes the 36 bytes of the text, in lower case, to the start of `buffer`.
    ///
    /// - Returns: the number of bytes written, which is 36, or 0 if `buffer` is too small.
    @discardableResult
    public func write(to buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard buffer.count >= Self.textBytes else { return 0 }
        func write(_ part: UInt64, _ first: Int, _ second: Int) {
            let text = HexDigits.text(part)
            buffer.storeBytes(
                of: UInt32(truncatingIfNeeded: text >> 32).bigEndian, toByteOffset: first, as: UInt32.self)
            buffer.storeBytes(of: UInt32(truncatingIfNeeded: text).bigEndian, toByteOffset: second, as: UInt32.self)
        }
        write(high >> 32, 0, 4)
        write(high & 0xFFFF_FFFF, 9, 14)
        write(low >> 32, 19, 24)
        write(low & 0xFFFF_FFFF, 28, 32)
        let hyphen = UInt8(ascii: "-")
        (buffer[8], buffer[13], buffer[18], buffer[23]) = (hyphen, hyphen, hyphen, hyphen)
        return Self.textBytes
    }

    /// Calls `body` with the 36 bytes of the text, in lower case. The bytes are valid during the call.
    @inlinable public func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: Self.textBytes, alignment: 4) { text in
            write(to: text)
            return body(UnsafeRawBufferPointer(text))
        }
    }

    /// The text, in lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.textBytes) { write(to: UnsafeMutableRawBufferPointer($0)) }
    }

    public static func < (left: UUIDValue, right: UUIDValue) -> Bool { (left.high, left.low) < (right.high, right.low) }

    private func stamped(version: UInt64) -> UUIDValue {
        UUIDValue(
            high: high & ~0xF000 | version << 12,
            low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}
