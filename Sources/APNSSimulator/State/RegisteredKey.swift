public import APNSProtocol
public import Crypto

/// The public half of a provider's token signing key, as Apple's key registry holds it.
public struct RegisteredKey: Sendable {
    /// What a key may push to (Apple, "Establishing a token-based connection to APNs").
    public enum Scope: Sendable, Hashable {
        /// Every topic of the team, also later ones.
        case team
        /// The topics of these bundle IDs. Another such key may be related to it: tokens of both may share a connection.
        case topics(Set<String>, relatedKeyID: String?)
    }

    /// `kid`: ten characters.
    public var id: String
    /// `iss`: the team that the key belongs to.
    public var teamID: String
    public var publicKey: ES256PublicKey
    /// Where the key is good. Keys from before 2025 are in both.
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

    /// Whether it may push to the topics of this bundle ID, as far as the key is concerned.
    func covers(bundleID: String) -> Bool {
        switch scope {
        case .team: true
        case .topics(let bundleIDs, _): bundleIDs.contains(bundleID)
        }
    }
}
