import APNSProtocol

/// The team, apps and keys that a connection is bound to. The first request with a valid token binds the connection
/// (Apple, "Establishing a token-based connection to APNs").
struct ConnectionBinding {
    private(set) var firstKey: RegisteredKey?
    /// The state's generation when the connection was bound. The connection cannot use apps that were added later.
    private(set) var generation = 0

    /// Admits a request with a token of this key. The first request binds the connection.
    ///
    /// - Throws: a refusal if the key belongs to another team, or if the rules do not allow both keys on a connection.
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
