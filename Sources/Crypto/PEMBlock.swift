internal import COpenSSL

/// The first block of a PEM text: `-----BEGIN label-----`, the decoded bytes, `-----END label-----`.
/// Bytes are wiped when it goes, as they may be a private key's.
final class PEMBlock {
    let label: String
    private let bytes: UnsafeMutablePointer<UInt8>
    private let length: Int

    /// - Throws: `malformed` when there is no whole block in `pem`.
    static func first(in pem: [UInt8], what: String) throws(CryptoError) -> PEMBlock {
        OpenSSLErrors.clear()
        guard let block = MemoryBIO.reading(pem, { PEMBlock(reading: $0) }) else {
            OpenSSLErrors.clear()
            throw CryptoError(.malformed, "\(what) holds no whole PEM block (-----BEGIN … to -----END …)")
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

    /// Whether both hold the same bytes.
    func holdsSame(as other: PEMBlock) -> Bool {
        length == other.length && CRYPTO_memcmp(bytes, other.bytes, length) == 0
    }

    deinit { CRYPTO_clear_free(bytes, length, nil, 0) }

    /// A copy of the bytes, for what is no secret.
    var contents: [UInt8] { Array(UnsafeBufferPointer(start: bytes, count: length)) }

    /// Runs one of OpenSSL's `d2i` functions over the bytes; nil when they are not what it reads, to the last byte.
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
