import APNSProtocol
public import Crypto

/// A key that provider tokens are signed with, as the developer account gives it out: the `.p8` file, its key ID and the
/// team's ID.
public struct ProviderKey: Sendable, Equatable {
    public let keyID: String
    public let teamID: String
    let privateKey: ES256PrivateKey

    /// - Throws: `CryptoError`: `malformed` or `unsupported` for the file, `invalidArgument` for an ID that does not have
    ///   ten letters and digits (Apple, "Establishing a token-based connection").
    public init(p8PEM: [UInt8], keyID: String, teamID: String) throws(CryptoError) {
        try self.init(privateKey: ES256PrivateKey(pem: p8PEM), keyID: keyID, teamID: teamID)
    }

    public init(privateKey: ES256PrivateKey, keyID: String, teamID: String) throws(CryptoError) {
        guard Self.isID(keyID) else { throw Self.wrong("key ID") }
        guard Self.isID(teamID) else { throw Self.wrong("team ID") }
        self.privateKey = privateKey
        self.keyID = keyID
        self.teamID = teamID
    }
}

extension ProviderKey {
    private static func isID(_ text: String) -> Bool {
        text.utf8.count == APNSLimits.keyIDBytes
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: false
                }
            }
    }

    private static func wrong(_ what: String) -> CryptoError {
        CryptoError(.invalidArgument, "a \(what) has \(APNSLimits.keyIDBytes) letters and digits")
    }
}
