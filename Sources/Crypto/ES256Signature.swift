internal import COpenSSL

/// The conversion of an ECDSA signature on P-256 from the raw r‖s of JWS (RFC 7518, 3.4) to OpenSSL's DER sequence.
enum ES256Signature {
    static let rawBytes = 64
    /// Maximum DER size, which is that of a sequence of two integers of 33 bytes, each with tag and length.
    static let derBytesMax = 72

    static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == rawBytes, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let r = raw.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, 32, nil) }
        let s = raw[32...].withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, 32, nil) }
        guard ECDSA_SIG_set0(signature, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        var der = [UInt8](repeating: 0, count: derBytesMax)
        let count = der.withUnsafeMutableBufferPointer { bytes in
            var position = bytes.baseAddress
            return Int(i2d_ECDSA_SIG(signature, &position))
        }
        guard count > 0, count <= derBytesMax else { return nil }
        der.removeLast(derBytesMax - count)
        return der
    }
}
