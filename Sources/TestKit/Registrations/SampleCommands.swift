import APNSProtocol
public import Registrations

extension TokenAddress {
    /// Returns a production address of the kind `device` in the app of ``RegistrationModel``.
    public static func device(_ token: String) -> TokenAddress {
        TokenAddress(app: RegistrationModel.app, environment: .production, kind: .device, scope: nil, token: token)
    }
}

/// Sample commands. Times are milliseconds after `RegistrationModel.start`.
extension RegistrationCommand {
    public static func register(
        _ user: String, _ token: String, at: Int64, device: String? = nil, shared: Bool = false, expires: Int64? = nil,
        platform: DevicePlatform? = nil
    ) -> RegistrationCommand {
        register(
            user, .device(token), at: at, device: device, shared: shared, expires: expires, platform: platform)
    }

    public static func register(
        _ user: String, _ address: TokenAddress, at: Int64, device: String? = nil, shared: Bool = false,
        expires: Int64? = nil, platform: DevicePlatform? = nil
    ) -> RegistrationCommand {
        .register(
            NewRegistration(
                address: address, user: user, deviceID: device, platform: platform,
                registeredAt: RegistrationModel.start + at, expiresAt: expires.map { RegistrationModel.start + $0 },
                isShared: shared))
    }

    public static func unregister(token: String, at: Int64) -> RegistrationCommand {
        .unregister(.token(.device(token)), at: RegistrationModel.start + at)
    }

    public static func unregister(_ user: String, device: String? = nil, at: Int64) -> RegistrationCommand {
        let target: UnregisterTarget =
            device.map { .device(app: RegistrationModel.app, user: user, deviceID: $0) }
            ?? .user(app: RegistrationModel.app, user: user)
        return .unregister(target, at: RegistrationModel.start + at)
    }

    public static func erase(_ user: String, app: String? = nil, at: Int64) -> RegistrationCommand {
        .erase(user: user, app: app, at: RegistrationModel.start + at)
    }

    public static func prune(_ token: String, at: Int64) -> RegistrationCommand {
        .prune(
            .device(token),
            APNSRefusal(status: 410, reason: "Unregistered", timestamp: RegistrationModel.start + at))
    }

    public static func suspect(_ token: String, at: Int64) -> RegistrationCommand {
        .suspect(
            .device(token),
            APNSRefusal(status: 400, reason: "BadDeviceToken", timestamp: RegistrationModel.start + at))
    }
}

extension RegistrationRules.Outcome {
    /// The change, user and token of each event, such as `moved ann 0a`.
    public var eventWords: [String] { events.map { "\($0.change.word) \($0.identity.user) \($0.identity.token)" } }
}
