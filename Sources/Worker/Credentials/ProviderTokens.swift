import APNS
import Crypto
import EventLoop

/// The provider tokens of a process: one for each key, signed on the control loop and sent to every lane.
struct ProviderTokens {
    /// The time for which the token of an unused key is kept. APNs accepts a token for an hour, and no second token
    /// of the key within 20 minutes. A restored key therefore continues with its token.
    static let rememberedSeconds: Int64 = 60 * 60
    /// Maximum number of unused keys that are kept. The oldest keys are dropped first.
    static let rememberedMax = 1000

    private struct Former {
        let name: Credential.Name
        let source: ProviderTokenSigner
        let until: MonotonicTime

        func isUsed(by keys: [Credential.Name: ProviderKey]) -> Bool { keys[name].map(source.signs) ?? false }
    }

    private var sources: [Credential.Name: ProviderTokenSigner] = [:]
    /// Unused keys, oldest first.
    private var former: [Former] = []

    /// Replaces the keys. A key that is in use, or was in use within `rememberedSeconds`, continues with its token.
    ///
    /// - Parameter keys: the new keys. Of several keys with the same ID, the last key counts.
    /// - Throws: if a key cannot sign. Nothing changes in this case.
    mutating func replace(_ keys: [ProviderKey], _ now: Now, random: () -> UInt64) throws(CryptoError) {
        let keys = Dictionary(keys.map { (Credential.key($0).name, $0) }) { $1 }
        let until = now.sinceBoot + .seconds(Self.rememberedSeconds)
        let before = former + sources.map { Former(name: $0.key, source: $0.value, until: until) }
        var sources: [Credential.Name: ProviderTokenSigner] = [:]
        for (name, key) in keys {
            sources[name] = try Self.source(of: key, before.lazy.filter { $0.name == name }.map(\.source), now, random)
        }
        self.sources = sources
        former = before.filter { !$0.isUsed(by: keys) }.suffix(Self.rememberedMax)
        dropExpired(now)
    }

    /// Returns the signer of a key: a known signer with the same private key, or a new signer with its first token.
    ///
    /// - Parameter known: the signers of keys with the same ID, oldest first.
    private static func source(
        of key: ProviderKey, _ known: some Collection<ProviderTokenSigner>, _ now: Now, _ random: () -> UInt64
    ) throws(CryptoError) -> ProviderTokenSigner {
        // Continue the numbering, because lanes distinguish the tokens of one key ID by generation.
        let last = known.compactMap(\.newest?.generation).max() ?? 0
        if var source = known.first(where: { $0.signs(with: key) }) {
            source.countOn(after: last)
            return source
        }
        var source = ProviderTokenSigner(key: key, after: last)
        _ = source.renew(now, random: random)
        if let error = source.error { throw error }
        return source
    }

    private mutating func dropExpired(_ now: Now) { former.removeAll { $0.until <= now.sinceBoot } }

    /// Returns the tokens with which lanes and the execution of channel commands start.
    ///
    /// - Parameter onRefusal: called with the name of the key when APNs has refused a token, on any event loop.
    func supplies(
        _ onRefusal: @escaping @Sendable (Credential.Name, TokenRefusal) -> Void
    ) -> [Credential.Name: TokenSupply] {
        var supplies: [Credential.Name: TokenSupply] = [:]
        for (name, source) in sources {
            supplies[name] = source.newest.map { TokenSupply(first: $0) { refusal in onRefusal(name, refusal) } }
        }
        return supplies
    }

    var newest: [(Credential.Name, ProviderTokenUpdate)] {
        sources.compactMap { name, source in source.newest.map { (name, .newest($0)) } }
    }

    /// Signs the tokens that are due, and drops unused keys after `rememberedSeconds`. Returns the new tokens.
    mutating func renew(_ now: Now, random: () -> UInt64) -> [(Credential.Name, ProviderTokenUpdate)] {
        dropExpired(now)
        var update: [(Credential.Name, ProviderTokenUpdate)] = []
        for name in Array(sources.keys) where sources[name]?.renew(now, random: random) == true {
            if let token = sources[name]?.newest { update.append((name, .newest(token))) }
        }
        return update
    }

    mutating func refused(
        _ refusal: TokenRefusal, of name: Credential.Name, _ now: Now, random: () -> UInt64
    ) -> ProviderTokenUpdate {
        sources[name]?.refused(refusal, now, random: random).map { .newest($0) }
            ?? .nothingNewer(than: refusal.generation)
    }
}
