public import APNSProtocol
public import Crypto

/// One row of the store: the newest registration of a token in a slot, or a tombstone. All times are UNIX milliseconds.
///
/// The slot of a registration is zero. A shared registration has a slot for each user.
public struct Registration: Sendable, Hashable {
    /// The primary key.
    public struct Key: Sendable, Hashable, Comparable {
        /// The keyed hash of app, environment, kind, scope and token.
        public var token: UUIDValue
        /// Zero; the user's key if the registration is shared.
        public var slot: UUIDValue

        public init(token: UUIDValue, slot: UUIDValue = Key.unshared) {
            (self.token, self.slot) = (token, slot)
        }

        /// The slot of registrations that are not shared.
        public static let unshared = UUIDValue(high: 0, low: 0)

        public static func < (left: Key, right: Key) -> Bool {
            (left.token, left.slot) < (right.token, right.slot)
        }
    }

    public enum State: Sendable, Hashable {
        /// Requests to the user reach the device, unless the row is suspended or expired. To: `ended`.
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
        /// nil if the row could not be decrypted. A newer registration replaces such a row.
        public var identity: RegistrationIdentity?
        public var platform: DevicePlatform?
        /// nil for a registration that does not expire.
        public var expiresAt: Int64?
        /// nil without refusals since the registration.
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
    /// The time of the newest registration in this slot, also of a tombstone; 0 if there was none.
    public var registeredAt: Int64
    /// The keyed hash of app, environment, kind, scope and installation. A tombstone keeps it: an older registration of
    /// the same installation must not become live.
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

    /// The time of a tombstone; nil for a live row.
    public var endedAt: Int64? {
        switch state {
        case .live: nil
        case .ended(let at): at
        }
    }
}

/// The refusals of a token that may mean that it is wrong.
public struct Suspicion: Sendable, Hashable {
    /// The number of refusals, at most one in 24 hours.
    public var count: Int
    /// The time of the last counted response.
    public var since: Int64

    public init(count: Int, since: Int64) {
        (self.count, self.since) = (count, since)
    }

    /// Whether requests no longer reach the device.
    public var isSuspension: Bool { count >= RegistrationRules.suspicionsMax }
}

/// The data of a registration that the store encrypts.
public struct RegistrationIdentity: Sendable, Hashable {
    /// In lower-case hexadecimal digits.
    public var token: String
    public var user: String
    public var deviceID: String?
    public var scope: String?

    public init(token: String, user: String, deviceID: String? = nil, scope: String? = nil) {
        (self.token, self.user, self.deviceID, self.scope) = (token, user, deviceID, scope)
    }
}
