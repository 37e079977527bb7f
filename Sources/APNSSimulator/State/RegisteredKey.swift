public import APNSProtocol
public import Crypto

/// A registered public key of a provider. The simulator verifies provider tokens with the key.
public struct RegisteredKey: Sendable {
    /// The topics that a key may push to (Apple, "Establishing a token-based connection to APNs").
    public enum Scope: Sendable, Hashable {
        /// All topics of the team, including topics that the team receives later.
        case team
        /// The topics of these bundle IDs. Tokens of this key and of the related key may share a connection.
        case topics(Set<String>, relatedKeyID: String?)
    }

    /// The key ID (`kid`). Apple's key IDs have ten characters.
    public var id: String
    /// The ID of the team that the key belongs to (`iss`).
    public var teamID: String
    public var publicKey: ES256PublicKey
    /// The environments in which the key is valid. Keys from before 2025 are valid in both environments.
    public var environments: Set<APNSEnvironment>
    public var scope: Scope
    public var isRevoked = false

    public init(
        id: String, teamID: String, publicKey: ES256PublicKey,
        environments: Set<APNSEnvironment> = [.production, .sandbox], scope: Scope = .team
    ) {
        self.id = id
        self.teamID = teamID
        self.publicKey = publicKey
        self.environments = environments
        self.scope = scope
    }

    /// Returns whether the key's scope includes the topics of this bundle ID.
    func covers(bundleID: String) -> Bool {
        switch scope {
        case .team: true
        case .topics(let bundleIDs, _): bundleIDs.contains(bundleID)
        }
    }
}
