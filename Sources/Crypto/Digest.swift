internal import COpenSSL

/// Hashes of bytes in memory.
public enum Digest {
    /// Returns the SHA-256 hash, 32 bytes.
    public static func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
            COpenSSL.SHA256(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, digest.baseAddress)
            count = 32
        }
    }

    /// Returns the SHA-256 hash, 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { sha256($0) } }

    /// Returns the SHA-1 hash, 20 bytes. SHA-1 is not secure.
    public static func sha1(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 20) { digest, count in
            COpenSSL.SHA1(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, digest.baseAddress)
            count = 20
        }
    }

    /// Returns the SHA-1 hash, 20 bytes. SHA-1 is not secure.
    public static func sha1(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { sha1($0) } }
}
