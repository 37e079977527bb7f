package import Registrations

extension Registration {
    /// The command that stores this registration; nil for a tombstone and for a row that could not be decrypted. A
    /// secret.
    package var command: RegistrationCommand? {
        guard let details, let identity = details.identity else { return nil }
        return .register(
            NewRegistration(
                address: TokenAddress(
                    app: app, environment: environment, kind: kind, scope: identity.scope, token: identity.token),
                user: identity.user, deviceID: identity.deviceID, platform: details.platform,
                registeredAt: registeredAt, expiresAt: details.expiresAt, isShared: key.slot != Key.unshared))
    }
}
