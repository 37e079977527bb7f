import Crypto
import EventLoop

/// The provider tokens of one key on one lane: signs one when the policy says so, and keeps the last.
struct TokenSource {
    /// What APNs had against a token.
    enum Refusal {
        case expired
        case invalid
    }

    let key: ProviderKey
    private(set) var policy: ProviderTokenPolicy
    private(set) var newest: ProviderToken?
    /// Why the last attempt to sign failed.
    private(set) var error: CryptoError?

    init(key: ProviderKey, configuration: ProviderTokenPolicy.Configuration) {
        self.key = key
        policy = ProviderTokenPolicy(configuration)
    }

    /// The token to send now; nil when none could be made.
    mutating func token(forNewConnection: Bool, _ now: Now, random: () -> UInt64) -> ProviderToken? {
        if forNewConnection ? policy.isMintDueForNewConnection(now) : policy.isMintDue(now) { mint(now, random) }
        return policy.isUsable(now) ? newest : nil
    }

    /// APNs has refused a token; whether there is a newer one now that may fare better.
    mutating func refused(_ refusal: Refusal, generation: Int, _ now: Now, random: () -> UInt64) -> Bool {
        let action =
            switch refusal {
            case .expired: policy.expired(generation: generation, now)
            case .invalid: policy.invalid(generation: generation, now)
            }
        switch action {
        case .mint:
            mint(now, random)
            return newest?.generation != generation
        case .useNewer: return true
        case .giveUp: return false
        }
    }

    private mutating func mint(_ now: Now, _ random: () -> UInt64) {
        do throws(CryptoError) {
            let token = try ProviderToken(key: key, generation: (newest?.generation ?? 0) + 1, now: now)
            policy.minted(generation: token.generation, at: now, random: random())
            newest = token
            error = nil
        } catch {
            // The last token goes on for as long as it holds.
            self.error = error
        }
    }
}
