internal import COpenSSL

/// HMAC with SHA-256 (RFC 2104) for one key. Use an instance on one thread at a time.
///
/// `init` prepares the key. The code of a short message then needs two hash blocks instead of four.
public final class HMACSHA256 {
    public static let codeBytes = 32

    private let context: OpaquePointer

    /// Creates an HMAC with a key of any length.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    public init(key: [UInt8]) throws(CryptoError) {
        OpenSSLErrors.clear()
        guard let context = Self.context(key: key) else {
            throw CryptoError(.failed, drainingOpenSSLAfter: "cannot prepare an HMAC key")
        }
        self.context = context
    }

    deinit { EVP_MAC_CTX_free(context) }

    private static func context(key: [UInt8]) -> OpaquePointer? {
        guard let mac = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { EVP_MAC_free(mac) }
        guard let context = EVP_MAC_CTX_new(mac) else { return nil }
        // OpenSSL treats a null address as a missing key. For an empty array, Swift passes an address that is not null.
        guard martlet_hmac_sha256_set_key(context, key, key.count) == 1 else {
            EVP_MAC_CTX_free(context)
            return nil
        }
        return context
    }

    /// Returns the code of `message`, 32 bytes.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    public func code(of message: UnsafeRawBufferPointer) throws(CryptoError) -> [UInt8] {
        var isWritten = false
        let code = [UInt8](unsafeUninitializedCapacity: Self.codeBytes) { code, count in
            isWritten = write(codeOf: message, to: code)
            count = isWritten ? Self.codeBytes : 0
        }
        guard isWritten else { throw Self.failure() }
        return code
    }

    /// Returns the code of `message`, 32 bytes.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    public func code(of message: [UInt8]) throws(CryptoError) -> [UInt8] {
        let code = message.withUnsafeBytes { message in
            Result { () throws(CryptoError) in try self.code(of: message) }
        }
        return try code.get()
    }

    /// Returns the first 128 bits of the code of `message`, without allocating an array.
    ///
    /// - Throws: `failed` if OpenSSL fails.
    public func shortCode(of message: UnsafeRawBufferPointer) throws(CryptoError) -> UUIDValue {
        var code: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let isWritten = withUnsafeMutableBytes(of: &code) { code in
            write(codeOf: message, to: code.bindMemory(to: UInt8.self))
        }
        guard isWritten else { throw Self.failure() }
        return UUIDValue(high: UInt64(bigEndian: code.0), low: UInt64(bigEndian: code.1))
    }

    /// Writes the code of `message` to the 32 bytes of `code`. Returns false if OpenSSL fails.
    private func write(codeOf message: UnsafeRawBufferPointer, to code: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        var count = 0
        // Without a key, EVP_MAC_init begins a new computation with the prepared key.
        return EVP_MAC_init(context, nil, 0, nil) == 1
            && EVP_MAC_update(context, message.baseAddress?.assumingMemoryBound(to: UInt8.self), message.count) == 1
            && EVP_MAC_final(context, code.baseAddress, &count, code.count) == 1 && count == Self.codeBytes
    }

    /// Clears OpenSSL's error queue, and returns an error without OpenSSL's reason. For speed, the queue is not cleared
    /// before each code, so the reason could be that of an earlier error.
    private static func failure() -> CryptoError {
        OpenSSLErrors.clear()
        return CryptoError(.failed, "cannot compute an HMAC: OpenSSL failed")
    }
}
