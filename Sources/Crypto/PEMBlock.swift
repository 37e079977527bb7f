internal import COpenSSL

/// The first block of a PEM text, with the bytes between `-----BEGIN label-----` and `-----END label-----`, decoded.
/// The bytes may be a private key, so they are cleared on deallocation.
final class PEMBlock {
    let label: String
    private let bytes: UnsafeMutablePointer<UInt8>
    private let length: Int

    /// Returns the first block of a PEM text.
    ///
    /// - Parameter what: the origin of the text, for the error message.
    /// - Throws: `malformed` if `pem` contains no complete block.
    static func first(in pem: [UInt8], what: String) throws(CryptoError) -> PEMBlock {
        OpenSSLErrors.clear()
        guard let block = MemoryBIO.reading(pem, { PEMBlock(reading: $0) }) else {
            OpenSSLErrors.clear()
            throw CryptoError(.malformed, "\(what) contains no complete PEM block (-----BEGIN … to -----END …)")
        }
        return block
    }

    private init?(reading input: OpaquePointer) {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard PEM_read_bio(input, &name, &header, &data, &count) == 1, let name, let data else { return nil }
        label = String(cString: name)
        bytes = data
        length = count
        CRYPTO_free(name, nil, 0)
        CRYPTO_free(header, nil, 0)
    }

    /// Returns whether both blocks contain the same bytes.
    func holdsSame(as other: PEMBlock) -> Bool {
        length == other.length && CRYPTO_memcmp(bytes, other.bytes, length) == 0
    }

    deinit { CRYPTO_clear_free(bytes, length, nil, 0) }

    /// A copy of the bytes. Not for secrets, since the copy is not cleared.
    var contents: [UInt8] { Array(UnsafeBufferPointer(start: bytes, count: length)) }

    /// Decodes the bytes with one of OpenSSL's `d2i` functions. Returns nil unless that function reads all bytes.
    func decode<Value>(_ d2i: (inout UnsafePointer<UInt8>?, Int) -> Value?, free: (Value) -> Void) -> Value? {
        var position: UnsafePointer<UInt8>? = UnsafePointer(bytes)
        guard let value = d2i(&position, length) else { return nil }
        guard position == UnsafePointer(bytes) + length else {
            free(value)
            return nil
        }
        return value
    }
}
