/// A refusal of a provider token by APNs.
public struct TokenRefusal: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// A refusal with the reason `ExpiredProviderToken`.
        case expired
        /// A refusal with the reason `InvalidProviderToken`.
        case invalid
    }

    public var kind: Kind
    /// The generation of the refused token.
    public var generation: Int

    public init(kind: Kind, generation: Int) { (self.kind, self.generation) = (kind, generation) }
}

/// The reply to a ``TokenRefusal``, or the scheduled replacement of a token.
public enum ProviderTokenUpdate: Sendable {
    /// A token to send from now on.
    case newest(ProviderToken)
    /// A reply that no token is newer than this generation.
    case nothingNewer(than: Int)
}
