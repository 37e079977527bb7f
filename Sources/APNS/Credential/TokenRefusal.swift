/// That APNs has refused a provider token.
public struct TokenRefusal: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// `ExpiredProviderToken`
        case expired
        /// `InvalidProviderToken`
        case invalid
    }

    public var kind: Kind
    /// Of the token.
    public var generation: Int

    public init(kind: Kind, generation: Int) { (self.kind, self.generation) = (kind, generation) }
}

/// What follows from a ``TokenRefusal``, or from a token's age.
public enum ProviderTokenUpdate: Sendable {
    /// Send this from now on.
    case newest(ProviderToken)
    /// A new one would be refused as well.
    case nothingNewer(than: Int)
}
