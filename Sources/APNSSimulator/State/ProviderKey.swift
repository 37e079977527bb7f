public import APNSProtocol
public import Crypto

/// The public half of a provider's token signing key, as Apple's key registry holds it.
public struct ProviderKey: Sendable {
    /// `kid`: ten characters.
    public var id: String
    /// `iss`: the team that the key belongs to.
    public var teamID: String
    public var publicKey: ES256PublicKey
    /// Where the key is good. Keys from before 2025 are in both.
    public var environments: Set<APNSEnvironment>
    public var isRevoked = false

    public init(
        id: String, teamID: String, publicKey: ES256PublicKey,
        environments: Set<APNSEnvironment> = [.production, .sandbox]
    ) {
        self.id = id
        self.teamID = teamID
        self.publicKey = publicKey
        self.environments = environments
    }
}
