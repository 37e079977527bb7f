import APNSProtocol

/// Whom a connection belongs to. Its first push with a valid token binds it to the key's team, to the team's apps as of
/// that moment, and to a scope of keys (Apple, "Establishing a token-based connection to APNs").
struct ConnectionBinding {
    private(set) var firstKey: RegisteredKey?
    /// The state's generation when it was bound: apps added later are not known on this connection.
    private(set) var generation = 0

    /// Takes a push with a token of this key.
    ///
    /// - Throws: when the connection belongs to others.
    mutating func admit(_ key: RegisteredKey, generation: Int, options: RuleOptions) throws(Refusal) {
        guard let firstKey else {
            firstKey = key
            self.generation = generation
            return
        }
        guard key.id != firstKey.id else { return }
        guard key.teamID == firstKey.teamID else {
            throw Refusal(reason: options.otherTeamReason, detail: .connectionOfOtherTeam)
        }
        switch (firstKey.scope, key.scope) {
        case (.team, .team): if options.allowsTeamKeyRotation { return }
        case (.topics(_, let related), .topics(_, let backRelated)):
            if related == key.id || backRelated == firstKey.id { return }
        case (.team, .topics), (.topics, .team):
            throw Refusal(reason: options.keyScopeReason, detail: .connectionOfOtherKey)
        }
        throw Refusal(reason: .unrelatedKeyIDInToken, detail: .connectionOfOtherKey)
    }
}
