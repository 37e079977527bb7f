public import Crypto

extension BlindIndex {
    /// Returns the command with its keys.
    ///
    /// - Parameter apps: The apps in which an erasure in all apps ends registrations, in this order. Duplicates are
    ///   ignored. The mark of the erasure also covers other apps.
    /// - Throws: `failed` if OpenSSL fails.
    public func keyed(_ command: RegistrationCommand, apps: [String]) throws(CryptoError) -> KeyedCommand {
        switch command {
        case .register(let registration): .register(registration, try keys(of: registration))
        case .unregister(.token(let address), let at): .endToken(address, try tokenKey(address), at: at, nil)
        case .unregister(.device(let app, let user, let deviceID), let at):
            .endUser(
                KeyedCommand.UserEnd(
                    users: [try userKey(app: app, user: user)],
                    mark: EndMark(key: try markKey(app: app, user: user, deviceID: deviceID), at: at),
                    deviceID: deviceID, isErasure: false))
        case .unregister(.user(let app, let user), let at):
            .endUser(try end(of: user, in: app, at: at, isErasure: false))
        case .erase(let user, let app?, let at): .endUser(try end(of: user, in: app, at: at, isErasure: true))
        case .erase(let user, nil, let at): .endUser(try end(of: user, inAll: apps, at: at))
        case .prune(let address, let refusal):
            .endToken(address, try tokenKey(address), at: refusal.timestamp, refusal)
        case .suspect(let address, let refusal): .suspect(try tokenKey(address), refusal)
        }
    }

    private func keys(of registration: NewRegistration) throws(CryptoError) -> KeyedCommand.RegisterKeys {
        let (address, user) = (registration.address, registration.user)
        let userKey = try userKey(app: address.app, user: user)
        var marks = [try markKey(userInAllApps: user), userKey]
        var device: UUIDValue?
        if let deviceID = registration.deviceID {
            device = try deviceKey(address, deviceID: deviceID)
            marks.append(try markKey(app: address.app, user: user, deviceID: deviceID))
        }
        var scope: UUIDValue?
        if let name = address.scope { scope = try scopeKey(name) }
        return KeyedCommand.RegisterKeys(
            token: try tokenKey(address), user: userKey, device: device, scope: scope, marks: marks)
    }

    private func end(
        of user: String, in app: String, at: Int64, isErasure: Bool
    ) throws(CryptoError) -> KeyedCommand.UserEnd {
        let key = try userKey(app: app, user: user)
        return KeyedCommand.UserEnd(
            users: [key], mark: EndMark(key: key, at: at, isPermanent: isErasure), deviceID: nil,
            isErasure: isErasure)
    }

    private func end(of user: String, inAll apps: [String], at: Int64) throws(CryptoError) -> KeyedCommand.UserEnd {
        var users: [UUIDValue] = []
        var added: Set<ByteText> = []
        for app in apps where added.insert(app.exact).inserted { users.append(try userKey(app: app, user: user)) }
        return KeyedCommand.UserEnd(
            users: users, mark: EndMark(key: try markKey(userInAllApps: user), at: at, isPermanent: true),
            deviceID: nil, isErasure: true)
    }
}
