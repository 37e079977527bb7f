import APNSProtocol
public import Crypto
import JSON

extension RegistrationCommand {
    /// Returns the body of the command (`schemas/registration.schema.json`). The body is a secret.
    ///
    /// - Parameter id: nil for a line of an export.
    public func body(id: UUIDValue?) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("command", word.rawValue)
        if let id { json.member("id", id.description) }
        switch self {
        case .register(let registration): registration.write(to: &json)
        case .unregister(.token(let address), let at):
            address.write(to: &json)
            json.member("registered_at", at)
        case .unregister(.device(let app, let user, let deviceID), let at):
            json.member("app", app)
            json.member("user", user)
            json.member("device_id", deviceID)
            json.member("registered_at", at)
        case .unregister(.user(let app, let user), let at):
            json.member("app", app)
            json.member("user", user)
            json.member("registered_at", at)
        case .erase(let user, let app, let at):
            if let app { json.member("app", app) }
            json.member("user", user)
            json.member("registered_at", at)
        case .prune(let address, let refusal), .suspect(let address, let refusal):
            address.write(to: &json)
            json.member("status", refusal.status)
            json.member("reason", refusal.reason)
            json.member("timestamp", refusal.timestamp)
        }
        json.endObject()
        return json.bytes
    }
}

extension NewRegistration {
    fileprivate func write(to json: inout JSONWriter) {
        address.write(to: &json)
        json.member("user", user)
        if let deviceID { json.member("device_id", deviceID) }
        if let platform { json.member("platform", platform.rawValue) }
        json.member("registered_at", registeredAt)
        if let expiresAt { json.member("expires_at", expiresAt) }
        if isShared { json.member("shared", true) }
    }
}

extension TokenAddress {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("app", app)
        json.member("environment", environment.rawValue)
        json.member("kind", kind.rawValue)
        if let scope { json.member("scope", scope) }
        json.member("device_token", token)
    }
}
