public import Crypto

/// One row of the table `registration`. All times are UNIX milliseconds.
public struct StoredRow: Sendable, Hashable {
    public var key: Registration.Key
    /// The keyed hash of app and user; nil in a tombstone.
    public var userKey: UUIDValue?
    public var deviceKey: UUIDValue?
    /// The keyed hash of the scope; nil for kinds without a scope.
    public var scopeKey: UUIDValue?
    public var registeredAt: Int64
    /// The time of the end in UNIX milliseconds; nil in a live row.
    public var endedAt: Int64?
    public var expiresAt: Int64?
    public var suspectSince: Int64?
    public var suspicions: Int
    /// The number of the app in the table `app`.
    public var app: Int
    /// The number of the environment (`APNSEnvironment.number`).
    public var environment: Int
    /// The number of the kind (`TokenKind.number`).
    public var kind: Int
    /// The number of the platform (`DevicePlatform.number`).
    public var platform: Int?
    /// The encrypted identity; nil in a tombstone.
    public var sealed: RowCipher.Sealed?

    /// Creates a row without the data of a live row. The caller adds that data if `endedAt` is nil.
    public init(
        key: Registration.Key, deviceKey: UUIDValue?, registeredAt: Int64, endedAt: Int64?, app: Int, environment: Int,
        kind: Int
    ) {
        (self.key, self.deviceKey, self.registeredAt, self.endedAt) = (key, deviceKey, registeredAt, endedAt)
        (self.app, self.environment, self.kind) = (app, environment, kind)
        suspicions = 0
    }
}
