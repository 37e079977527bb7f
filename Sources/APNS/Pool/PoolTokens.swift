import Crypto
import EventLoop

/// The provider tokens of a pool: those that it is handed, or, where nobody signs for it, its own.
struct PoolTokens {
    /// What follows when APNs refuses a token.
    enum Remedy {
        /// There is a newer one: send the push again.
        case newer
        /// Whoever signs was asked, and answers later.
        case asked
        case none
    }

    private var newest: ProviderToken? {
        didSet { usableUntilNanoseconds = newest.map { $0.mintedAt.sinceBoot.nanoseconds + useNanosecondsMax } ?? .min }
    }
    /// Since the machine's start; kept, because each push asks.
    private var usableUntilNanoseconds = Int64.min
    private var own: ProviderTokenSigner?
    private let useNanosecondsMax: Int64
    /// A refusal that was not answered yet.
    private var asked: Int?
    private let ask: (TokenRefusal) -> Void

    /// - Parameter supply: nil: the pool signs with the key.
    init(_ key: ProviderKey, _ configuration: ProviderTokenPolicy.Configuration, _ supply: TokenSupply?) {
        own = supply == nil ? ProviderTokenSigner(key: key, configuration: configuration) : nil
        useNanosecondsMax = configuration.useSecondsMax * 1_000_000_000
        ask = supply?.ask ?? { _ in }
        // From a function, since observers are not called in an initializer.
        if let supply { take(.newest(supply.first)) }
    }

    /// The token to send now; nil when there is none that APNs would take.
    mutating func usable(_ now: Now, random: () -> UInt64) -> ProviderToken? {
        if own?.renew(now, random: random) == true { newest = own?.newest }
        guard now.sinceBoot.nanoseconds < usableUntilNanoseconds else { return nil }
        return newest
    }

    func ageSeconds(_ now: Now) -> Int64? {
        newest.map { $0.mintedAt.sinceBoot.duration(to: now.sinceBoot).components.seconds }
    }

    /// Why none could be made.
    var error: CryptoError? { own?.error }

    mutating func refused(_ refusal: TokenRefusal, _ now: Now, random: () -> UInt64) -> Remedy {
        guard newest?.generation == refusal.generation else { return .newer }
        if own != nil {
            guard let token = own?.refused(refusal, now, random: random) else { return .none }
            newest = token
            return .newer
        }
        askOnce(refusal)
        return .asked
    }

    /// Requests a replacement for the newest token, which is too old to be sent. Returns false if the pool signs its own
    /// tokens.
    mutating func askForNewer() -> Bool {
        guard own == nil, let newest else { return false }
        askOnce(TokenRefusal(kind: .expired, generation: newest.generation))
        return true
    }

    private mutating func askOnce(_ refusal: TokenRefusal) {
        guard asked != refusal.generation else { return }
        asked = refusal.generation
        ask(refusal)
    }

    mutating func take(_ update: ProviderTokenUpdate) {
        asked = nil
        if case .newest(let token) = update { newest = token }
    }
}

/// Provider tokens that are signed elsewhere, one for all pools of a key.
public struct TokenSupply: Sendable {
    /// To begin with; later ones come by ``APNSPool/take(_:)``.
    public var first: ProviderToken
    /// Called on the pool's loop when APNs has refused the newest token or the token is too old to be sent; the answer comes
    /// by ``APNSPool/take(_:)``.
    public var ask: @Sendable (TokenRefusal) -> Void

    public init(first: ProviderToken, ask: @escaping @Sendable (TokenRefusal) -> Void) {
        self.first = first
        self.ask = ask
    }
}
