import APNSProtocol
public import Crypto

/// A key that signs provider tokens. The developer account issues the `.p8` file, its key ID and the team ID.
public struct ProviderKey: Sendable, Equatable {
    public let keyID: String
    public let teamID: String
    let privateKey: ES256PrivateKey

    /// Creates a key from the contents of a `.p8` file.
    ///
    /// - Throws: `CryptoError` with the code `malformed` or `unsupported` for the file, or `failed` if OpenSSL fails.
    ///   The code is `invalidArgument` for an ID that is not ten letters and digits (Apple, "Establishing a token-based
    ///   connection").
    public init(p8PEM: [UInt8], keyID: String, teamID: String) throws(CryptoError) {
        try self.init(privateKey: ES256PrivateKey(pem: p8PEM), keyID: keyID, teamID: teamID)
    }

    /// Creates a key from a private key and the IDs that belong to it.
    ///
    /// - Throws: `CryptoError` with the code `invalidArgument` for an ID that is not ten letters and digits.
    public init(privateKey: ES256PrivateKey, keyID: String, teamID: String) throws(CryptoError) {
        guard Self.isID(keyID) else { throw Self.invalidID("key ID") }
        guard Self.isID(teamID) else { throw Self.invalidID("team ID") }
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

    private static func invalidID(_ name: String) -> CryptoError {
        CryptoError(.invalidArgument, "a \(name) must have \(APNSLimits.keyIDBytes) letters and digits")
    }
}
