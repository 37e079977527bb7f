public import APNSProtocol

/// A report that a registration has ended or was suspended.
public struct RegistrationEvent: Sendable, Hashable {
    public enum Change: Sendable, Hashable {
        /// An end because APNs reported the token as unregistered (410).
        case pruned(APNSRefusal)
        /// An end because another user registered the token without sharing it.
        case moved(newUser: String)
        /// An end because the installation registered another token.
        case replaced
        /// An end because the user had more registrations in the app than the limit.
        case evicted
        case expired
        /// A suspension because the number of counted refusals reached ``RegistrationRules/suspicionsMax``.
        case suspended(APNSRefusal)
        /// An end by the erasure of the user.
        case erased

        /// The value of the member `event`.
        public var word: String {
            switch self {
            case .pruned: "pruned"
            case .moved: "moved"
            case .replaced: "replaced"
            case .evicted: "evicted"
            case .expired: "expired"
            case .suspended: "suspended"
            case .erased: "erased"
            }
        }

        /// The response of APNs that caused the change; nil if another cause did.
        var refusal: APNSRefusal? {
            switch self {
            case .pruned(let refusal), .suspended(let refusal): refusal
            case .moved, .replaced, .evicted, .expired, .erased: nil
            }
        }

        /// The new user of a token that moved.
        var newUser: String? {
            if case .moved(let newUser) = self { newUser } else { nil }
        }

        public static func == (left: Self, right: Self) -> Bool {
            left.word == right.word && left.newUser?.exact == right.newUser?.exact && left.refusal == right.refusal
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(word)
            hasher.combine(newUser?.exact)
            hasher.combine(refusal)
        }
    }

    public var change: Change
    /// The bundle ID.
    public var app: String
    public var environment: APNSEnvironment
    public var kind: TokenKind
    /// The identity of the registration before the change. It is secret.
    public var identity: RegistrationIdentity
    /// The time of the registration in UNIX milliseconds.
    public var registeredAt: Int64

    public init(
        _ change: Change, app: String, environment: APNSEnvironment, kind: TokenKind, identity: RegistrationIdentity,
        registeredAt: Int64
    ) {
        (self.change, self.app, self.environment, self.kind) = (change, app, environment, kind)
        (self.identity, self.registeredAt) = (identity, registeredAt)
    }

    /// Creates the event of a live row; nil for a tombstone and for a row that could not be decrypted.
    init?(_ change: Change, of row: Registration) {
        guard let identity = row.details?.identity else { return nil }
        self.init(
            change, app: row.app, environment: row.environment, kind: row.kind, identity: identity,
            registeredAt: row.registeredAt)
    }
}
