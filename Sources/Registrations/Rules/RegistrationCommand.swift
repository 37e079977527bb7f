/// A change of registrations. All times are UNIX milliseconds. Commands contain tokens and users, which are secret.
public enum RegistrationCommand: Sendable, Hashable {
    /// Registers a token for a user.
    case register(NewRegistration)
    /// Ends registrations that are not newer than `at`.
    case unregister(UnregisterTarget, at: Int64)
    /// Erases a user's registrations that are not newer than `at`. Without an app, in all apps.
    case erase(user: String, app: String?, at: Int64)
    /// Ends the registrations of a token that APNs reported as unregistered (410).
    case prune(TokenAddress, APNSRefusal)
    /// Counts a refusal that may mean a wrong token.
    case suspect(TokenAddress, APNSRefusal)

    /// The value in commands and replies.
    public enum Word: String, CaseIterable, Sendable, Hashable {
        case register
        case unregister
        case erase
        case prune
        case suspect
    }

    public var word: Word {
        switch self {
        case .register: .register
        case .unregister: .unregister
        case .erase: .erase
        case .prune: .prune
        case .suspect: .suspect
        }
    }

    /// The bundle ID; nil for an erasure in all apps.
    public var app: String? {
        switch self {
        case .register(let registration): registration.address.app
        case .unregister(.token(let address), _), .prune(let address, _), .suspect(let address, _): address.app
        case .unregister(.device(let app, _, _), _), .unregister(.user(let app, _), _): app
        case .erase(_, let app, _): app
        }
    }
}

/// The content of a `register` command.
public struct NewRegistration: Sendable, Hashable {
    public var address: TokenAddress
    public var user: String
    /// The app's name of its installation.
    public var deviceID: String?
    public var platform: DevicePlatform?
    /// The time at which the app called the producer's server.
    public var registeredAt: Int64
    /// nil for a registration that does not expire.
    public var expiresAt: Int64?
    /// Whether other users may have the token at the same time.
    public var isShared: Bool

    /// - Parameter expiresAt: nil for the default of the token's kind.
    public init(
        address: TokenAddress, user: String, deviceID: String? = nil, platform: DevicePlatform? = nil,
        registeredAt: Int64, expiresAt: Int64? = nil, isShared: Bool = false
    ) {
        (self.address, self.user, self.deviceID, self.platform) = (address, user, deviceID, platform)
        (self.registeredAt, self.isShared) = (registeredAt, isShared)
        self.expiresAt = expiresAt ?? address.kind.lifetimeMilliseconds.map { registeredAt + $0 }
    }
}

/// The registrations that an `unregister` command ends.
public enum UnregisterTarget: Sendable, Hashable {
    case token(TokenAddress)
    /// The registrations of one installation for one user, in all environments, kinds and scopes of the app.
    case device(app: String, user: String, deviceID: String)
    /// All registrations of the user in the app.
    case user(app: String, user: String)
}

/// A response of APNs that concerns a token.
public struct APNSRefusal: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The reason, as APNs sent it.
    public var reason: String
    /// Of a 410, the time at which APNs learned that the token is unregistered. Of other responses, the time of the
    /// response. UNIX milliseconds.
    public var timestamp: Int64

    public init(status: Int, reason: String, timestamp: Int64) {
        (self.status, self.reason, self.timestamp) = (status, reason, timestamp)
    }
}
