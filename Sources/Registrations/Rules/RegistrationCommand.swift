/// A command that changes registrations. All times are UNIX milliseconds. The tokens and users in commands are secret.
public enum RegistrationCommand: Sendable, Hashable {
    /// Registers a token for a user.
    case register(NewRegistration)
    /// Ends the registrations of the target that are not newer than `at`.
    case unregister(UnregisterTarget, at: Int64)
    /// Erases a user's registrations that are not newer than `at`, in one app or, if `app` is nil, in all apps.
    case erase(user: String, app: String?, at: Int64)
    /// Ends the registrations of a token that APNs reported as unregistered (410). Registrations that are newer than
    /// the refusal remain.
    case prune(TokenAddress, APNSRefusal)
    /// Counts a refusal that may mean that the token is wrong.
    case suspect(TokenAddress, APNSRefusal)

    /// The value of the member `command` in commands and replies.
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

    /// The bundle ID of the row that the command may insert; nil if the command inserts no row. Erasures may name any
    /// number of unknown apps, so a store must not keep the app of an erasure.
    public var appOfNewRow: String? {
        switch self {
        case .register, .unregister(.token, _), .prune: app
        case .unregister(.device, _), .unregister(.user, _), .erase, .suspect: nil
        }
    }

    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.register(let one), .register(let other)): one == other
        case (.unregister(let one, let at), .unregister(let other, let otherAt)): one == other && at == otherAt
        case (.erase(let user, let app, let at), .erase(let otherUser, let otherApp, let otherAt)):
            user.exact == otherUser.exact && app?.exact == otherApp?.exact && at == otherAt
        case (.prune(let one, let refusal), .prune(let other, let otherRefusal)),
            (.suspect(let one, let refusal), .suspect(let other, let otherRefusal)):
            one == other && refusal == otherRefusal
        case (.register, _), (.unregister, _), (.erase, _), (.prune, _), (.suspect, _): false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(word)
        switch self {
        case .register(let registration): hasher.combine(registration)
        case .unregister(let target, let at):
            hasher.combine(target)
            hasher.combine(at)
        case .erase(let user, let app, let at):
            hasher.combine(user.exact)
            hasher.combine(app?.exact)
            hasher.combine(at)
        case .prune(let address, let refusal), .suspect(let address, let refusal):
            hasher.combine(address)
            hasher.combine(refusal)
        }
    }
}

/// The content of a `register` command.
public struct NewRegistration: Sendable, Hashable {
    public var address: TokenAddress
    public var user: String
    /// The name that the app gives its installation on the device.
    public var deviceID: String?
    public var platform: DevicePlatform?
    /// The time at which the app called the producer's server.
    public var registeredAt: Int64
    /// The time of the expiration in UNIX milliseconds; nil for a registration that does not expire.
    public var expiresAt: Int64?
    /// Whether other users may have the token at the same time.
    public var isShared: Bool

    /// Creates a registration.
    ///
    /// - Parameter expiresAt: nil for the default lifetime of the token's kind, if it has one.
    public init(
        address: TokenAddress, user: String, deviceID: String? = nil, platform: DevicePlatform? = nil,
        registeredAt: Int64, expiresAt: Int64? = nil, isShared: Bool = false
    ) {
        (self.address, self.user, self.deviceID, self.platform) = (address, user, deviceID, platform)
        (self.registeredAt, self.isShared) = (registeredAt, isShared)
        self.expiresAt =
            expiresAt
            ?? address.kind.lifetimeMilliseconds.map { lifetime in
                // The time of a row may have any value.
                let (end, isOverflow) = registeredAt.addingReportingOverflow(lifetime)
                return isOverflow ? .max : end
            }
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.address == right.address && left.user.exact == right.user.exact
            && left.deviceID?.exact == right.deviceID?.exact && left.platform == right.platform
            && left.registeredAt == right.registeredAt && left.expiresAt == right.expiresAt
            && left.isShared == right.isShared
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(address)
        hasher.combine(user.exact)
        hasher.combine(deviceID?.exact)
        hasher.combine(registeredAt)
    }
}

/// The registrations that an `unregister` command ends.
public enum UnregisterTarget: Sendable, Hashable {
    case token(TokenAddress)
    /// The registrations of one installation for one user, in all environments, kinds and scopes of the app.
    case device(app: String, user: String, deviceID: String)
    /// All registrations of the user in the app.
    case user(app: String, user: String)

    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.token(let one), .token(let other)): one == other
        case (.device(let app, let user, let deviceID), .device(let otherApp, let otherUser, let otherDeviceID)):
            app.exact == otherApp.exact && user.exact == otherUser.exact && deviceID.exact == otherDeviceID.exact
        case (.user(let app, let user), .user(let otherApp, let otherUser)):
            app.exact == otherApp.exact && user.exact == otherUser.exact
        case (.token, _), (.device, _), (.user, _): false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .token(let address): hasher.combine(address)
        case .device(let app, let user, let deviceID):
            hasher.combine(app.exact)
            hasher.combine(user.exact)
            hasher.combine(deviceID.exact)
        case .user(let app, let user):
            hasher.combine(app.exact)
            hasher.combine(user.exact)
        }
    }
}

/// A response by which APNs refuses a token.
public struct APNSRefusal: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The reason from APNs.
    public var reason: String
    /// For status 410, the time at which the token became unregistered, or the time of the push if APNs sent no time.
    /// For another status, the time of the response. UNIX milliseconds.
    public var timestamp: Int64

    public init(status: Int, reason: String, timestamp: Int64) {
        (self.status, self.reason, self.timestamp) = (status, reason, timestamp)
    }
}
