internal import COpenSSL

/// Cryptographically secure random bytes.
public enum SecureRandom {
    /// Returns `count` random bytes.
    ///
    /// - Throws: `failed` if OpenSSL fails, or for more than `Int32.max` bytes.
    public static func bytes(count: Int) throws(CryptoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, count))
        guard bytes.withUnsafeMutableBytes({ isFilled($0) }) else { throw failure() }
        return bytes
    }

    /// Fills `buffer` with random bytes, without allocation.
    ///
    /// - Throws: `failed`, like `bytes(count:)`.
    public static func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(CryptoError) {
        guard isFilled(buffer) else { throw failure() }
    }

    private static func isFilled(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard let count = Int32(exactly: buffer.count) else { return false }
        return count == 0 || RAND_bytes(buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), count) == 1
    }

    private static func failure() -> CryptoError {
        CryptoError(.failed, drainingOpenSSLAfter: "cannot get random bytes from the system")
    }
}
