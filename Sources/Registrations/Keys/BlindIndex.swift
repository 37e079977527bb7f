import APNSProtocol
public import Crypto

/// A calculator of the keys by which a store finds rows and marks. Each key is 128 bits of an HMAC-SHA-256. Without the
/// key file, the keys reveal neither tokens nor users. Use an instance on one thread at a time.
///
/// All functions throw `failed` if OpenSSL fails.
public final class BlindIndex {
    private let tokens: HMACSHA256
    private let users: HMACSHA256
    private let usersInAllApps: HMACSHA256
    private let devices: HMACSHA256
    private let usersOnDevices: HMACSHA256
    private let scopes: HMACSHA256
    private var input = BlindIndexInput()

    public init(_ keys: RegistrationKeys) throws(CryptoError) {
        func mac(_ use: KeyUse) throws(CryptoError) -> HMACSHA256 {
            try HMACSHA256(key: try use.key(from: keys.indexKey))
        }
        tokens = try mac(.token)
        users = try mac(.user)
        usersInAllApps = try mac(.userInAllApps)
        devices = try mac(.device)
        usersOnDevices = try mac(.userOnDevice)
        scopes = try mac(.scope)
    }

    /// Returns the `token_key` of a row.
    public func tokenKey(_ address: TokenAddress) throws(CryptoError) -> UUIDValue {
        begin(address)
        input.append(address.token)
        return try key(tokens)
    }

    /// Returns the `user_key` of a row, which is also the key of a mark for the user in this app.
    public func userKey(app: String, user: String) throws(CryptoError) -> UUIDValue {
        input.removeAll()
        input.append(app)
        input.append(user)
        return try key(users)
    }

    /// Returns the `scope_key` of a row.
    public func scopeKey(_ scope: String) throws(CryptoError) -> UUIDValue {
        input.removeAll()
        input.append(scope)
        return try key(scopes)
    }

    /// Returns the `device_key` of a row.
    ///
    /// - Parameter address: An address of which the token is ignored.
    public func deviceKey(_ address: TokenAddress, deviceID: String) throws(CryptoError) -> UUIDValue {
        begin(address)
        input.append(deviceID)
        return try key(devices)
    }

    /// Returns the key of a mark for the user in all apps.
    public func markKey(userInAllApps user: String) throws(CryptoError) -> UUIDValue {
        input.removeAll()
        input.append(user)
        return try key(usersInAllApps)
    }

    /// Returns the key of a mark for the user on one installation of an app.
    public func markKey(app: String, user: String, deviceID: String) throws(CryptoError) -> UUIDValue {
        input.removeAll()
        input.append(app)
        input.append(user)
        input.append(deviceID)
        return try key(usersOnDevices)
    }

    private func begin(_ address: TokenAddress) {
        input.removeAll()
        input.append(address.app)
        input.append(address.environment.number)
        input.append(address.kind.number)
        input.append(address.scope)
    }

    private func key(_ mac: HMACSHA256) throws(CryptoError) -> UUIDValue {
        let key = input.bytes.withUnsafeBytes { bytes in
            Result { () throws(CryptoError) in try mac.shortCode(of: bytes) }
        }
        return try key.get()
    }
}
