public import Crypto
public import EventLoop

/// A signer of the provider tokens of one key. The signer signs a token when the policy requires a new one, and keeps
/// the newest token.
public struct ProviderTokenSigner: Sendable {
    let key: ProviderKey
    private(set) var policy: ProviderTokenPolicy
    /// The newest token; nil before the first one.
    public private(set) var newest: ProviderToken?
    private var generation: Int
    private let sign: Sign
    /// The error of the last attempt to sign; nil if that attempt succeeded or none was made.
    public private(set) var error: CryptoError?

    typealias Sign = @Sendable (ProviderKey, _ generation: Int, Now) throws(CryptoError) -> ProviderToken

    /// Creates a signer that has no token yet.
    ///
    /// - Parameter generation: the generation of the last token that was signed with another key of the same ID; 0
    ///   if there is none.
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

    /// Returns whether the signer uses this key. A different private key with the same key ID does not count.
    public func signs(with key: ProviderKey) -> Bool { self.key == key }

    /// Continues the generations after `generation`, which another key of the same ID has used.
    public mutating func countOn(after generation: Int) { self.generation = max(self.generation, generation) }

    /// Signs a new token if one is due. Returns whether a token was signed.
    public mutating func renew(_ now: Now, random: () -> UInt64) -> Bool {
        policy.isMintDue(now) && mint(now, random)
    }

    /// Returns the token to use instead of a refused one, and signs a new token if necessary. Returns nil if no other
    /// token would help, or if signing fails.
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
            // The previous token remains in use until it is too old.
            self.error = error
            return false
        }
    }
}
