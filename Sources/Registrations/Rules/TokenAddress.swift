public import APNSProtocol

/// A device token and the namespace in which it is unique.
public struct TokenAddress: Sendable, Hashable {
    /// The bundle ID.
    public var app: String
    public var environment: APNSEnvironment
    public var kind: TokenKind
    /// Present if and only if the kind has scopes.
    public var scope: String?
    /// The token in lower-case hexadecimal digits. It is secret.
    public var token: String

    /// Creates an address.
    ///
    /// - Parameter token: The token in hexadecimal digits of either case.
    public init(app: String, environment: APNSEnvironment, kind: TokenKind, scope: String?, token: String) {
        (self.app, self.environment, self.kind, self.scope) = (app, environment, kind, scope)
        self.token = token.lowercased()
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.app.exact == right.app.exact && left.environment == right.environment && left.kind == right.kind
            && left.scope?.exact == right.scope?.exact && left.token.exact == right.token.exact
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(app.exact)
        hasher.combine(environment)
        hasher.combine(kind)
        hasher.combine(scope?.exact)
        hasher.combine(token.exact)
    }
}
