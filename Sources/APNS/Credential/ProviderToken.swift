import Crypto
public import EventLoop

/// A provider token: a JWT signed with ES256 that says which team and key a push comes from (Apple, "Establishing a
/// token-based connection"). It is a secret for as long as it holds.
public struct ProviderToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Counts the tokens that were made of a key, from 1.
    public let generation: Int
    public let mintedAt: Now
    /// Value of the `authorization` header: `bearer` and the token.
    package let authorization: [UInt8]

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
    public var description: String { "provider token \(generation)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["generation": generation, "mintedAt": mintedAt]) }
}
