import APNSProtocol
import Crypto

/// A cache of provider tokens with valid signatures, shared by all connections. A provider usually sends the same
/// token on all of its connections. The verification of a token takes longer than the rest of a push.
final class VerifiedSignatures {
    /// Maximum number of tokens. A new token replaces the oldest.
    static let tokensMax = 64

    private struct Verified {
        var token: [UInt8]
        var publicKey: String
    }

    private var verified: [Verified] = []

    /// Returns whether the signature of a token is valid. Adds a token with a valid signature to the cache.
    ///
    /// - Parameters:
    ///   - token: the complete token.
    ///   - signedCount: number of signed bytes at the start of the token.
    func isGood(
        _ token: UnsafeRawBufferPointer, signature: [UInt8], signedCount: Int, by key: ES256PublicKey
    ) -> Bool {
        let isKnown = verified.contains { known in
            known.publicKey == key.pem && known.token.withUnsafeBytes { $0.equals(token) }
        }
        if isKnown { return true }
        guard key.verify(signature: signature, of: Array(token[..<signedCount])) else { return false }
        if verified.count >= Self.tokensMax { verified.removeFirst() }
        verified.append(Verified(token: Array(token), publicKey: key.pem))
        return true
    }
}
