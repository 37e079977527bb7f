import Crypto
public import EventLoop

/// A provider token, which is a JWT signed with ES256. It identifies the team and key of a push (Apple, "Establishing a
/// token-based connection"). A valid token is a secret.
public struct ProviderToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Number of the token among the tokens signed for its key ID, from 1.
    public let generation: Int
    public let mintedAt: Now
    /// Value of the `authorization` header, which contains `bearer` and the token.
    package let authorization: [UInt8]

    /// Creates and signs a token. Throws if signing fails.
    init(key: ProviderKey, generation: Int, now: Now) throws(CryptoError) {
        let header = #"{"alg":"ES256","kid":"\#(key.keyID)"}"#
        let claims = #"{"iss":"\#(key.teamID)","iat":\#(now.unixSeconds)}"#
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        let signature = try key.privateKey.sign(Array(signed.utf8))
        self.generation = generation
        mintedAt = now
        authorization = Array("bearer \(signed).\(Base64URL.encode(signature))".utf8)
    }

    /// A description without the token. `debugDescription` and `customMirror` omit the token, too.
    public var description: String { "provider token \(generation)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["generation": generation, "mintedAt": mintedAt]) }
}
