import APNSProtocol
import Crypto

/// Provider tokens whose signature was checked and is good, on whatever connection: a provider sends one token on all of
/// its connections, and to check it takes longer than all else that a push does here.
final class VerifiedSignatures {
    /// The oldest makes room.
    static let tokensMax = 64

    private struct Verified {
        var token: [UInt8]
        var publicKey: String
    }

    private var verified: [Verified] = []

    /// - Parameters:
    ///   - token: the whole of it.
    ///   - signedCount: the bytes of it that are signed.
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
