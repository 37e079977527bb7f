import Crypto
import EventLoop

/// The provider tokens of a pool. They come from a ``TokenSupply``, or a pool without a supply signs them.
struct PoolTokens {
    /// The reaction to a refused token.
    enum Remedy {
        /// A resend of the push with a newer token, which existed already or was signed now.
        case newer
        /// A request to the supply for a newer token. The supply replies later.
        case requested
        case none
    }

    private var newest: ProviderToken? {
        didSet { usableUntilNanoseconds = newest.map { $0.mintedAt.sinceBoot.nanoseconds + useNanosecondsMax } ?? .min }
    }
    /// Time since boot until which the newest token is usable. Cached, since each push checks it.
    private var usableUntilNanoseconds = Int64.min
    private var own: ProviderTokenSigner?
    private let useNanosecondsMax: Int64
    /// The generation of the token whose replacement was requested; nil if no request is pending.
    private var requestedGeneration: Int?
    private let request: (TokenRefusal) -> Void

    /// Creates the tokens of a pool that uses this key.
    ///
    /// - Parameter supply: nil if the pool signs with the key.
    init(_ key: ProviderKey, _ configuration: ProviderTokenPolicy.Configuration, _ supply: TokenSupply?) {
        own = supply == nil ? ProviderTokenSigner(key: key, configuration: configuration) : nil
        useNanosecondsMax = configuration.useSecondsMax * 1_000_000_000
        request = supply?.requestNewer ?? { _ in }
        // Call a method, because assignments in an initializer do not call property observers.
        if let supply { apply(.newest(supply.first)) }
    }

    /// Returns the token to send now; nil if no token is usable. A pool without a supply first signs a new token if one
    /// is due.
    mutating func usable(_ now: Now, random: () -> UInt64) -> ProviderToken? {
        if own?.renew(now, random: random) == true { newest = own?.newest }
        guard now.sinceBoot.nanoseconds < usableUntilNanoseconds else { return nil }
        return newest
    }

    func ageSeconds(_ now: Now) -> Int64? {
        newest.map { $0.mintedAt.sinceBoot.duration(to: now.sinceBoot).components.seconds }
    }

    /// The error of the pool's last attempt to sign; nil if that attempt succeeded or none was made, or if a supply
    /// signs.
    var error: CryptoError? { own?.error }

    mutating func refused(_ refusal: TokenRefusal, _ now: Now, random: () -> UInt64) -> Remedy {
        guard newest?.generation == refusal.generation else { return .newer }
        if own != nil {
            guard let token = own?.refused(refusal, now, random: random) else { return .none }
            newest = token
            return .newer
        }
        requestOnce(refusal)
        return .requested
    }

    /// Requests a replacement for the newest token, which is too old to be sent. Returns false, without a request, if
    /// the pool signs its own tokens.
    mutating func requestNewer() -> Bool {
        guard own == nil, let newest else { return false }
        requestOnce(TokenRefusal(kind: .expired, generation: newest.generation))
        return true
    }

    private mutating func requestOnce(_ refusal: TokenRefusal) {
        guard requestedGeneration != refusal.generation else { return }
        requestedGeneration = refusal.generation
        request(refusal)
    }

    mutating func apply(_ update: ProviderTokenUpdate) {
        requestedGeneration = nil
        if case .newest(let token) = update { newest = token }
    }
}

/// A supply of provider tokens that are signed outside of the pool. All pools of a key share these tokens.
public struct TokenSupply: Sendable {
    /// The initial token. Later tokens arrive through ``APNSPool/apply(_:)``.
    public var first: ProviderToken
    /// A closure that the pool calls on its loop when the newest token was refused or is too old to be sent. The reply
    /// arrives through ``APNSPool/apply(_:)``.
    public var requestNewer: @Sendable (TokenRefusal) -> Void

    public init(first: ProviderToken, requestNewer: @escaping @Sendable (TokenRefusal) -> Void) {
        self.first = first
        self.requestNewer = requestNewer
    }
}
