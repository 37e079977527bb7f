internal import COpenSSL

/// The two forms of an ECDSA signature on P-256: OpenSSL's DER sequence and the raw r‖s of JWS (RFC 7518, 3.4).
enum ES256Signature {
    static let rawBytes = 64
    /// Two integers of 33 bytes with tag and length each, in a sequence.
    static let derBytesMax = 72

    static func raw(fromDER der: ArraySlice<UInt8>) -> [UInt8]? {
        der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            guard let signature = d2i_ECDSA_SIG(nil, &position, bytes.count) else { return nil }
            defer { ECDSA_SIG_free(signature) }
            var raw = [UInt8](repeating: 0, count: rawBytes)
            let written = raw.withUnsafeMutableBufferPointer { raw -> Bool in
                guard let base = raw.baseAddress else { return false }
                return BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, 32) == 32
                    && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + 32, 32) == 32
            }
            return written ? raw : nil
        }
    }

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
