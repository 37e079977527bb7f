internal import COpenSSL

/// ECDSA on P-256 with a deterministic nonce (RFC 6979, 3.2). Workers that sign the same claims with the same key
/// create the same provider token, and a replayed simulation creates the same bytes.
///
/// OpenSSL supports deterministic nonces since 3.2. Debian 12 has 3.0. OpenSSL does the curve arithmetic. A random
/// factor blinds the last step, whose modular multiplications are not constant-time.
enum DeterministicECDSA {
    private static let scalarBytes = 32

    /// Returns r and s, 32 bytes each. Returns nil if OpenSSL fails, or if no candidate is a valid nonce.
    static func sign(_ message: [UInt8], with key: P256Key) -> [UInt8]? {
        guard let numbers = Numbers(), let secret = numbers.secret(of: key) else { return nil }
        defer { BN_clear_free(secret) }
        guard let digest = numbers.reduced(Digest.sha256(message)) else { return nil }
        var nonces = NonceGenerator(secret: numbers.bytes(of: secret), digest: numbers.bytes(of: digest))
        while let nonce = nonces.next() {
            if let signature = numbers.signature(digest: digest, secret: secret, nonce: nonce) { return signature }
        }
        return nil
    }

    /// The nonce generator of RFC 6979, 3.2, steps b to h.
    private struct NonceGenerator {
        private var key = [UInt8](repeating: 0, count: scalarBytes)
        private var value = [UInt8](repeating: 1, count: scalarBytes)
        private var triesLeft = triesMax
        /// Maximum number of candidates. The first one is out of range with a probability of 2⁻³².
        private static let triesMax = 16

        init(secret: [UInt8], digest: [UInt8]) {
            for separator in [UInt8(0), 1] {
                key = hmac(key, value + [separator] + secret + digest)
                value = hmac(key, value)
            }
        }

        mutating func next() -> [UInt8]? {
            guard triesLeft > 0 else { return nil }
            triesLeft -= 1
            value = hmac(key, value)
            let candidate = value
            key = hmac(key, value + [0])
            value = hmac(key, value)
            return candidate
        }

        private func hmac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
            var code = [UInt8](repeating: 0, count: scalarBytes)
            HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, nil)
            return code
        }
    }

    /// The curve, its order, and the memory for one signature.
    private final class Numbers {
        private let group: OpaquePointer
        private let context: OpaquePointer
        private let order: OpaquePointer

        init?() {
            guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), let context = BN_CTX_secure_new(),
                let order = EC_GROUP_get0_order(group)
            else { return nil }
            BN_CTX_start(context)
            self.group = group
            self.context = context
            self.order = order
        }

        deinit {
            BN_CTX_end(context)
            BN_CTX_free(context)
            EC_GROUP_free(group)
        }

        func secret(of key: P256Key) -> OpaquePointer? {
            var secret: OpaquePointer?
            guard EVP_PKEY_get_bn_param(key.pointer, "priv", &secret) == 1, let secret else { return nil }
            BN_set_flags(secret, BN_FLG_CONSTTIME)
            return secret
        }

        func reduced(_ bytes: [UInt8]) -> OpaquePointer? {
            guard let number = number(bytes), BN_nnmod(number, number, order, context) == 1 else { return nil }
            return number
        }

        func bytes(of number: OpaquePointer) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: scalarBytes)
            BN_bn2binpad(number, &bytes, Int32(scalarBytes))
            return bytes
        }

        /// Returns r and s; nil if OpenSSL fails, if the nonce is out of range, or if r or s would be zero. In the last
        /// two cases, RFC 6979 requires the next nonce.
        func signature(digest: OpaquePointer, secret: OpaquePointer, nonce: [UInt8]) -> [UInt8]? {
            guard let nonce = number(nonce), BN_is_zero(nonce) == 0, BN_cmp(nonce, order) < 0,
                let point = EC_POINT_new(group)
            else { return nil }
            defer { EC_POINT_free(point) }
            BN_set_flags(nonce, BN_FLG_CONSTTIME)
            guard let r = number(), let s = number(), let blind = number(), let product = number(),
                EC_POINT_mul(group, point, nonce, nil, nil, context) == 1,
                EC_POINT_get_affine_coordinates(group, point, r, nil, context) == 1,
                BN_nnmod(r, r, order, context) == 1, BN_is_zero(r) == 0,
                BN_priv_rand_range(blind, order) == 1, BN_is_zero(blind) == 0,
                // s = (b·k)⁻¹ · (b·z + b·r·d)
                BN_mod_mul(product, blind, secret, order, context) == 1,
                BN_mod_mul(product, product, r, order, context) == 1,
                BN_mod_mul(s, blind, digest, order, context) == 1,
                BN_mod_add(s, s, product, order, context) == 1,
                BN_mod_mul(product, blind, nonce, order, context) == 1,
                let inverse = number(), markSecret(product),
                BN_mod_inverse(inverse, product, order, context) != nil,
                BN_mod_mul(s, s, inverse, order, context) == 1, BN_is_zero(s) == 0
            else { return nil }
            return bytes(of: r) + bytes(of: s)
        }

        private func markSecret(_ number: OpaquePointer) -> Bool {
            BN_set_flags(number, BN_FLG_CONSTTIME)
            return true
        }

        private func number() -> OpaquePointer? { BN_CTX_get(context) }

        private func number(_ bytes: [UInt8]) -> OpaquePointer? {
            number().flatMap { BN_bin2bn(bytes, Int32(bytes.count), $0) }
        }
    }
}
