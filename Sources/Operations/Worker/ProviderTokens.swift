import APNS
import Crypto
import EventLoop

/// The provider tokens of a process: one for each key, signed on the control loop and handed to every lane.
struct ProviderTokens {
    /// How long a key that is used no more is remembered with its token, which APNs takes for as long: who takes the key
    /// up again goes on with that token, since APNs wants no other within 20 minutes.
    static let rememberedSeconds: Int64 = 60 * 60
    /// So many at most; of more the oldest are forgotten.
    static let rememberedMax = 1000

    private struct Former {
        let name: Credential.Name
        let source: TokenSource
        let until: MonotonicTime

        func isTakenUp(by keys: [Credential.Name: ProviderKey]) -> Bool { keys[name].map(source.signs) ?? false }
    }

    private var sources: [Credential.Name: TokenSource] = [:]
    /// Those that are used no more, in the order of their leaving.
    private var former: [Former] = []

    /// Takes the place of what there was; a key that is still there, or was until lately, goes on with its token.
    ///
    /// - Parameter keys: of several with the same ID the last counts.
    /// - Throws: when one of the keys cannot sign; nothing changes then.
    mutating func replace(_ keys: [ProviderKey], _ now: Now, random: () -> UInt64) throws(CryptoError) {
        let keys = Dictionary(keys.map { (Credential.key($0).name, $0) }) { $1 }
        let until = now.sinceBoot + .seconds(Self.rememberedSeconds)
        let before = former + sources.map { Former(name: $0.key, source: $0.value, until: until) }
        var sources: [Credential.Name: TokenSource] = [:]
        for (name, key) in keys {
            sources[name] = try Self.source(of: key, before.lazy.filter { $0.name == name }.map(\.source), now, random)
        }
        self.sources = sources
        former = before.filter { !$0.isTakenUp(by: keys) }.suffix(Self.rememberedMax)
        forget(now)
    }

    /// - Parameter known: those of keys under the same ID, as they came and went.
    private static func source(
        of key: ProviderKey, _ known: some Collection<TokenSource>, _ now: Now, _ random: () -> UInt64
    ) throws(CryptoError) -> TokenSource {
        // Lanes tell tokens of an ID apart by their numbers.
        let last = known.compactMap(\.newest?.generation).max() ?? 0
        if var source = known.first(where: { $0.signs(with: key) }) {
            source.countOn(after: last)
            return source
        }
        var source = TokenSource(key: key, after: last)
        _ = source.renew(now, random: random)
        if let error = source.error { throw error }
        return source
    }

    private mutating func forget(_ now: Now) { former.removeAll { $0.until <= now.sinceBoot } }

    /// What lanes begin with.
    ///
    /// - Parameter ask: told on a lane's loop that APNs has refused a token of this key.
    func supplies(
        _ ask: @escaping @Sendable (Credential.Name, TokenRefusal) -> Void
    ) -> [Credential.Name: TokenSupply] {
        var supplies: [Credential.Name: TokenSupply] = [:]
        for (name, source) in sources {
            supplies[name] = source.newest.map { TokenSupply(first: $0) { refusal in ask(name, refusal) } }
        }
        return supplies
    }

    var newest: [(Credential.Name, TokenNews)] {
        sources.compactMap { name, source in source.newest.map { (name, .newest($0)) } }
    }

    /// Signs those that are due.
    mutating func renew(_ now: Now, random: () -> UInt64) -> [(Credential.Name, TokenNews)] {
        forget(now)
        var news: [(Credential.Name, TokenNews)] = []
        for name in Array(sources.keys) where sources[name]?.renew(now, random: random) == true {
            if let token = sources[name]?.newest { news.append((name, .newest(token))) }
        }
        return news
    }

    mutating func refused(
        _ refusal: TokenRefusal, of name: Credential.Name, _ now: Now, random: () -> UInt64
    ) -> TokenNews {
        sources[name]?.refused(refusal, now, random: random).map { .newest($0) }
            ?? .nothingNewer(than: refusal.generation)
    }
}
