public import Crypto
public import EventLoop

/// Signs the provider tokens of one key: a new one when the policy says so. Keeps the last.
public struct ProviderTokenSigner: Sendable {
    let key: ProviderKey
    private(set) var policy: ProviderTokenPolicy
    public private(set) var newest: ProviderToken?
    private var generation: Int
    private let sign: Sign
    /// Why the last attempt to sign failed.
    public private(set) var error: CryptoError?

    typealias Sign = @Sendable (ProviderKey, _ generation: Int, Now) throws(CryptoError) -> ProviderToken

    /// - Parameter generation: of the last token of the key whose place this one takes.
    public init(
        key: ProviderKey, configuration: ProviderTokenPolicy.Configuration = .init(), after generation: Int = 0
    ) {
        self.init(key: key, configuration, after: generation) { key, generation, now throws(CryptoError) in
            try ProviderToken(key: key, generation: generation, now: now)
        }
    }

    init(
        key: ProviderKey, _ configuration: ProviderTokenPolicy.Configuration, after generation: Int,
        sign: @escaping Sign
    ) {
        self.key = key
        self.generation = generation
        self.sign = sign
        policy = ProviderTokenPolicy(configuration)
    }

    /// Whether it is this very key, and not another file under the same ID.
    public func signs(with key: ProviderKey) -> Bool { self.key == key }

    /// Has the next token count on from this one, of another key under the same ID that was used meanwhile.
    public mutating func countOn(after generation: Int) { self.generation = max(self.generation, generation) }

    /// Makes a new token if one is due; returns whether it did.
    public mutating func renew(_ now: Now, random: () -> UInt64) -> Bool {
        policy.isMintDue(now) && mint(now, random)
    }

    /// APNs has refused a token; the newer one that may fare better, or nil.
    public mutating func refused(_ refusal: TokenRefusal, _ now: Now, random: () -> UInt64) -> ProviderToken? {
        let action =
            switch refusal.kind {
            case .expired: policy.expired(generation: refusal.generation, now)
            case .invalid: policy.invalid(generation: refusal.generation, now)
            }
        return switch action {
        case .mint: mint(now, random) ? newest : nil
        case .useNewer: newest
        case .giveUp: nil
        }
    }

    private mutating func mint(_ now: Now, _ random: () -> UInt64) -> Bool {
        do throws(CryptoError) {
            let token = try sign(key, generation + 1, now)
            generation = token.generation
            policy.minted(generation: token.generation, at: now, random: random())
            newest = token
            error = nil
            return true
        } catch {
            // The last token goes on for as long as it holds.
            self.error = error
            return false
        }
    }
}
