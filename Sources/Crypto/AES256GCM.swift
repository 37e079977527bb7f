internal import COpenSSL

/// Authenticated encryption with AES-256-GCM (NIST SP 800-38D) for one key, which `init` expands. Use an instance on
/// one thread at a time.
///
/// Nonces are random. With random nonces, SP 800-38D, section 8.3, permits at most 2³² messages with one key. Change
/// the key before this limit.
public final class AES256GCM {
    public static let keyBytes = 32
    public static let nonceBytes = 12
    public static let tagBytes = 16
    /// Number of bytes that sealing adds to a message, for nonce and tag.
    public static let overheadBytes = nonceBytes + tagBytes

    /// An error of ``open(_:authenticating:)``.
    public enum OpenError: Error, Sendable, Equatable {
        /// A sealed message that is shorter than a nonce and a tag. Also a message or associated data of more
        /// than 2³¹ − 1 bytes.
        case malformed
        /// A sealed message that was changed, or associated data or a key other than those of the sealing.
        case notAuthentic
        /// A failure of OpenSSL.
        case failed
    }

    // `seal` and `open` clear OpenSSL's error queue only after a failure, because clearing it before each message is
    // slow. Their errors omit OpenSSL's reason, which could be that of an earlier error.
    private let sealing: OpaquePointer
    private let opening: OpaquePointer

    /// Creates a cipher with one key.
    ///
    /// - Parameter key: 32 bytes.
    /// - Throws: `invalidArgument` for a key of another length, `failed` if OpenSSL fails.
    public init(key: [UInt8]) throws(CryptoError) {
        guard key.count == Self.keyBytes else {
            throw CryptoError(
                .invalidArgument,
                "cannot prepare an AES key of \(key.count) bytes: the length must be \(Self.keyBytes) bytes")
        }
        OpenSSLErrors.clear()
        guard let sealing = EVP_CIPHER_CTX_new() else { throw Self.preparationFailure() }
        guard let opening = EVP_CIPHER_CTX_new() else {
            EVP_CIPHER_CTX_free(sealing)
            throw Self.preparationFailure()
        }
        (self.sealing, self.opening) = (sealing, opening)
        guard let cipher = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else { throw Self.preparationFailure() }
        defer { EVP_CIPHER_free(cipher) }
        guard EVP_EncryptInit_ex2(sealing, cipher, key, nil, nil) == 1,
            EVP_DecryptInit_ex2(opening, cipher, key, nil, nil) == 1
        else { throw Self.preparationFailure() }
    }

    deinit {
        EVP_CIPHER_CTX_free(sealing)
        EVP_CIPHER_CTX_free(opening)
    }

    /// Encrypts and authenticates a message with a random nonce.
    ///
    /// - Parameter associated: Data that is authenticated and not encrypted.
    /// - Returns: The nonce, the ciphertext and the tag, in this order.
    /// - Throws: `invalidArgument` if an input is longer than 2³¹ − 1 bytes, `failed` if OpenSSL fails.
    public func seal(
        _ message: [UInt8], authenticating associated: UnsafeRawBufferPointer
    ) throws(CryptoError) -> [UInt8] {
        try seal(message, authenticating: associated, nonce: nil)
    }

    /// Encrypts and authenticates a message with a random nonce.
    public func seal(_ message: [UInt8], authenticating associated: [UInt8]) throws(CryptoError) -> [UInt8] {
        try seal(message, authenticating: associated, nonce: nil)
    }

    /// Encrypts and authenticates a message with a given nonce, for test vectors. If `nonce` is nil, the nonce is
    /// random. A nonce that is repeated with the same key lets an attacker forge tags.
    package func seal(
        _ message: [UInt8], authenticating associated: [UInt8], nonce: [UInt8]?
    ) throws(CryptoError) -> [UInt8] {
        let sealed = associated.withUnsafeBytes { associated in
            Result { () throws(CryptoError) in try seal(message, authenticating: associated, nonce: nonce) }
        }
        return try sealed.get()
    }

    private func seal(
        _ message: [UInt8], authenticating associated: UnsafeRawBufferPointer, nonce: [UInt8]?
    ) throws(CryptoError) -> [UInt8] {
        guard let messageCount = Int32(exactly: message.count), let associatedCount = Int32(exactly: associated.count)
        else {
            throw CryptoError(
                .invalidArgument, "cannot encrypt a message: the message or its associated data is too long")
        }
        var isSealed = false
        let sealed = [UInt8](unsafeUninitializedCapacity: message.count + Self.overheadBytes) { sealed, count in
            guard let start = sealed.baseAddress, Self.write(nonce, to: start) else { return }
            let body = start + Self.nonceBytes
            let tag = body + message.count
            var written: Int32 = 0
            isSealed =
                EVP_EncryptInit_ex2(sealing, nil, nil, start, nil) == 1
                && EVP_EncryptUpdate(sealing, nil, &written, Self.bytes(associated), associatedCount) == 1
                && EVP_EncryptUpdate(sealing, body, &written, message, messageCount) == 1
                && EVP_EncryptFinal_ex(sealing, tag, &written) == 1
                && EVP_CIPHER_CTX_ctrl(sealing, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes), tag) == 1
            count = isSealed ? message.count + Self.overheadBytes : 0
        }
        guard isSealed else {
            OpenSSLErrors.clear()
            throw CryptoError(.failed, "cannot encrypt a message: OpenSSL failed")
        }
        return sealed
    }

    /// Writes `nonce`, or a random nonce if `nonce` is nil. Returns false if `nonce` has an invalid length, or if
    /// OpenSSL cannot generate random bytes.
    private static func write(_ nonce: [UInt8]?, to start: UnsafeMutablePointer<UInt8>) -> Bool {
        guard let nonce else { return RAND_bytes(start, Int32(nonceBytes)) == 1 }
        guard nonce.count == nonceBytes else { return false }
        start.update(from: nonce, count: nonceBytes)
        return true
    }

    private static func bytes(_ buffer: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
        buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    }

    /// Authenticates and decrypts a result of ``seal(_:authenticating:)``. Returns no byte of a message that is not
    /// authentic.
    public func open(_ sealed: [UInt8], authenticating associated: [UInt8]) throws(OpenError) -> [UInt8] {
        let message = associated.withUnsafeBytes { associated in
            Result { () throws(OpenError) in try open(sealed, authenticating: associated) }
        }
        return try message.get()
    }

    /// Authenticates and decrypts a result of ``seal(_:authenticating:)``. Returns no byte of a message that is not
    /// authentic.
    public func open(
        _ sealed: [UInt8], authenticating associated: UnsafeRawBufferPointer
    ) throws(OpenError) -> [UInt8] {
        var result: Result<Int, OpenError> = .failure(.malformed)
        let message = [UInt8](
            unsafeUninitializedCapacity: max(0, sealed.count - Self.overheadBytes)
        ) { message, initialized in
            result = sealed.withUnsafeBytes { sealed in
                Result { () throws(OpenError) in
                    try open(sealed, authenticating: associated, into: UnsafeMutableRawBufferPointer(message))
                }
            }
            initialized = (try? result.get()) ?? 0
        }
        _ = try result.get()
        return message
    }

    /// Authenticates and decrypts a result of ``seal(_:authenticating:)``, without an allocation. If the message is not
    /// authentic, overwrites `message` with zeros.
    ///
    /// - Returns: The number of bytes of the message.
    /// - Precondition: `message` has at least `sealed.count` − ``overheadBytes`` bytes.
    public func open(
        _ sealed: UnsafeRawBufferPointer, authenticating associated: UnsafeRawBufferPointer,
        into message: UnsafeMutableRawBufferPointer
    ) throws(OpenError) -> Int {
        let messageCount = sealed.count - Self.overheadBytes
        guard messageCount >= 0, let count = Int32(exactly: messageCount), let start = Self.bytes(sealed),
            let associatedCount = Int32(exactly: associated.count)
        else { throw .malformed }
        precondition(message.count >= messageCount, "the buffer is too small for the message")
        let failure = open(
            start, count, to: message.baseAddress?.assumingMemoryBound(to: UInt8.self), Self.bytes(associated),
            associatedCount)
        if let failure {
            OpenSSLErrors.clear()
            UnsafeMutableRawBufferPointer(rebasing: message[..<messageCount])
                .initializeMemory(as: UInt8.self, repeating: 0)
            throw failure
        }
        return messageCount
    }

    private func open(
        _ sealed: UnsafePointer<UInt8>, _ count: Int32, to message: UnsafeMutablePointer<UInt8>?,
        _ associated: UnsafePointer<UInt8>?, _ associatedCount: Int32
    ) -> OpenError? {
        let body = sealed + Self.nonceBytes
        let tag = UnsafeMutableRawPointer(mutating: body + Int(count))
        var written: Int32 = 0
        // If `count` is 0, `message` may be nil. Without an output buffer, EVP_DecryptUpdate reads associated data.
        guard EVP_DecryptInit_ex2(opening, nil, nil, sealed, nil) == 1,
            EVP_CIPHER_CTX_ctrl(opening, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagBytes), tag) == 1,
            EVP_DecryptUpdate(opening, nil, &written, associated, associatedCount) == 1,
            count == 0 || EVP_DecryptUpdate(opening, message, &written, body, count) == 1
        else { return .failed }
        var rest: UInt8 = 0
        return EVP_DecryptFinal_ex(opening, &rest, &written) == 1 ? nil : .notAuthentic
    }

    private static func preparationFailure() -> CryptoError {
        CryptoError(.failed, drainingOpenSSLAfter: "cannot prepare an AES key")
    }
}
