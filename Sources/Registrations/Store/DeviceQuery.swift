public import APNSProtocol
public import Crypto

/// A search for a user's live registrations that are neither suspended nor expired.
public struct DeviceQuery: Sendable, Hashable {
    /// The bundle ID.
    public var app: String
    public var environment: APNSEnvironment
    public var kind: TokenKind
    /// Present if and only if the kind has scopes.
    public var scope: String?
    public var user: String
    /// The `token_key` of the token to which the query is limited; nil for all tokens of the user.
    public var tokenKey: UUIDValue?

    public init(
        app: String, environment: APNSEnvironment, kind: TokenKind, scope: String?, user: String,
        tokenKey: UUIDValue? = nil
    ) {
        (self.app, self.environment, self.kind, self.scope) = (app, environment, kind, scope)
        (self.user, self.tokenKey) = (user, tokenKey)
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.app.exact == right.app.exact && left.environment == right.environment && left.kind == right.kind
            && left.scope?.exact == right.scope?.exact && left.user.exact == right.user.exact
            && left.tokenKey == right.tokenKey
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(app.exact)
        hasher.combine(environment)
        hasher.combine(kind)
        hasher.combine(scope?.exact)
        hasher.combine(user.exact)
        hasher.combine(tokenKey)
    }
}

/// A device that a query found.
public struct FoundDevice: Sendable, Hashable {
    public var key: Registration.Key
    /// The token in lower-case hexadecimal digits, in ASCII. It is secret.
    public var tokenDigits: [UInt8]
    /// The time of the registration in UNIX milliseconds.
    public var registeredAt: Int64

    public init(key: Registration.Key, tokenDigits: [UInt8], registeredAt: Int64) {
        (self.key, self.tokenDigits, self.registeredAt) = (key, tokenDigits, registeredAt)
    }
}
