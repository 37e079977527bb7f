import Crypto
import EventLoop

/// A provider token: a JWT signed with ES256 that says which team and key a push comes from (Apple, "Establishing a
/// token-based connection"). It is a secret for as long as it holds.
struct ProviderToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Counts the tokens that were made of a key, from 1.
    let generation: Int
    let mintedAt: Now
    /// Value of the `authorization` header: `bearer` and the token.
    let authorization: [UInt8]

    /// Signs a new one.
    init(key: ProviderKey, generation: Int, now: Now) throws(CryptoError) {
        let header = #"{"alg":"ES256","kid":"\#(key.keyID)"}"#
        let claims = #"{"iss":"\#(key.teamID)","iat":\#(now.unixSeconds)}"#
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        let signature = try key.privateKey.sign(Array(signed.utf8))
        self.generation = generation
        mintedAt = now
        authorization = Array("bearer \(signed).\(Base64URL.encode(signature))".utf8)
    }

    /// Without the token, as are the other two.
    var description: String { "provider token \(generation)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: ["generation": generation, "mintedAt": mintedAt]) }
}
