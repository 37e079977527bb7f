import APNS
import Crypto
import EventLoop

/// The provider tokens of a process: one for each key, signed on the control loop and handed to every lane.
struct ProviderTokens {
    private var sources: [Credential.Name: TokenSource] = [:]

    /// Takes the place of what there was; a key that is still there goes on with its token.
    ///
    /// - Throws: when one of the keys cannot sign; nothing changes then.
    mutating func replace(_ keys: [ProviderKey], _ now: Now, random: () -> UInt64) throws(CryptoError) {
        var sources: [Credential.Name: TokenSource] = [:]
        for key in keys {
            let name = Credential.key(key).name
            let known = self.sources[name]
            if let known, known.signs(with: key) {
                sources[name] = known
                continue
            }
            var source = TokenSource(key: key, after: known?.newest?.generation ?? 0)
            _ = source.renew(now, random: random)
            if let error = source.error { throw error }
            sources[name] = source
        }
        self.sources = sources
    }

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
