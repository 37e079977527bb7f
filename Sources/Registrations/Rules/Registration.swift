public import APNSProtocol
public import Crypto

/// One row of the store, which is the newest registration of a token in a slot, or a tombstone. All times are UNIX
/// milliseconds.
///
/// An unshared registration is in slot zero. A shared registration is in the slot of its user.
public struct Registration: Sendable, Hashable {
    /// The primary key.
    public struct Key: Sendable, Hashable, Comparable {
        /// The keyed hash of app, environment, kind, scope and token.
        public var token: UUIDValue
        /// Zero for an unshared registration; the user's key for a shared one.
        public var slot: UUIDValue

        public init(token: UUIDValue, slot: UUIDValue = Key.unshared) {
            (self.token, self.slot) = (token, slot)
        }

        /// The slot of registrations that are not shared.
        public static let unshared = UUIDValue(high: 0, low: 0)

        public static func < (left: Key, right: Key) -> Bool {
            left.token == right.token ? left.slot < right.slot : left.token < right.token
        }
    }

    public enum State: Sendable, Hashable {
        /// A row that lookups find, unless it is suspended, expired or unreadable. To: `ended`.
        case live(Details)
        /// A tombstone. Registrations at or before `at` have no effect. To: `live`, by a newer registration.
        case ended(at: Int64)
    }

    /// The data of a live row.
    public struct Details: Sendable, Hashable {
        /// The keyed hash of app and user.
        public var userKey: UUIDValue
        /// The keyed hash of the scope; nil for kinds without a scope.
        public var scopeKey: UUIDValue?
        /// The decrypted identity; nil if the row could not be decrypted.
        public var identity: RegistrationIdentity?
        public var platform: DevicePlatform?
        /// The time of the expiration in UNIX milliseconds; nil for a registration that does not expire.
        public var expiresAt: Int64?
        /// The counted refusals; nil if the row has none.
        public var suspicion: Suspicion?

        public init(
            userKey: UUIDValue, scopeKey: UUIDValue? = nil, identity: RegistrationIdentity?,
            platform: DevicePlatform? = nil, expiresAt: Int64? = nil, suspicion: Suspicion? = nil
        ) {
            (self.userKey, self.scopeKey, self.identity) = (userKey, scopeKey, identity)
            (self.platform, self.expiresAt, self.suspicion) = (platform, expiresAt, suspicion)
        }
    }

    public let key: Key
    /// The bundle ID.
    public let app: String
    public let environment: APNSEnvironment
    public let kind: TokenKind
    /// The time of the newest registration in this slot, even after its end; 0 if the slot had no registration.
    public var registeredAt: Int64
    /// The keyed hash of app, environment, kind, scope and installation; nil without an installation. At most
    /// `endsPerDeviceMax` tombstones keep the hash, so that no older registration of the installation becomes live.
    public var deviceKey: UUIDValue?
    public var state: State

    public init(
        key: Key, app: String, environment: APNSEnvironment, kind: TokenKind, registeredAt: Int64,
        deviceKey: UUIDValue?, state: State
    ) {
        (self.key, self.app, self.environment, self.kind) = (key, app, environment, kind)
        (self.registeredAt, self.deviceKey, self.state) = (registeredAt, deviceKey, state)
    }

    /// The data of a live row; nil for a tombstone.
    public var details: Details? {
        switch state {
        case .live(let details): details
        case .ended: nil
        }
    }

    /// The time of the end; nil for a live row.
    public var endedAt: Int64? {
        switch state {
        case .live: nil
        case .ended(let at): at
        }
    }

    /// Returns the time since the registration in milliseconds. It is negative if the clock of the producer was ahead.
    ///
    /// - Parameter now: UNIX milliseconds.
    public func ageMilliseconds(at now: Int64) -> Int64 {
        // The time of a row may have any value.
        let (age, isOverflow) = now.subtractingReportingOverflow(registeredAt)
        return isOverflow ? .max : age
    }
}

/// The count of APNs' refusals that may mean that a token is wrong.
public struct Suspicion: Sendable, Hashable {
    /// The number of counted refusals. At most one in 24 hours counts.
    public var count: Int
    /// The time of the last counted refusal.
    public var since: Int64

    public init(count: Int, since: Int64) {
        (self.count, self.since) = (count, since)
    }

    /// Whether the row is suspended. Lookups do not find a suspended row.
    public var isSuspension: Bool { count >= RegistrationRules.suspicionsMax }
}

/// The part of a registration that the store encrypts.
public struct RegistrationIdentity: Sendable, Hashable {
    /// The token in lower-case hexadecimal digits.
    public var token: String
    public var user: String
    public var deviceID: String?
    public var scope: String?

    public init(token: String, user: String, deviceID: String? = nil, scope: String? = nil) {
        (self.token, self.user, self.deviceID, self.scope) = (token, user, deviceID, scope)
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.token.exact == right.token.exact && left.user.exact == right.user.exact
            && left.deviceID?.exact == right.deviceID?.exact && left.scope?.exact == right.scope?.exact
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(token.exact)
        hasher.combine(user.exact)
        hasher.combine(deviceID?.exact)
        hasher.combine(scope?.exact)
    }
}
