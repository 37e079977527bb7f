import APNSProtocol
import JSON

extension RegistrationEvent {
    /// The AMQP property `type` of an event.
    public static let type = "push.registration-event.v1"

    /// The body of the event (`schemas/registration-event.schema.json`). A secret.
    public var body: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("event", change.word)
        json.member("app", app)
        json.member("environment", environment.rawValue)
        json.member("kind", kind.rawValue)
        if let scope = identity.scope { json.member("scope", scope) }
        json.member("user", identity.user)
        if let newUser = change.newUser { json.member("new_user", newUser) }
        if let deviceID = identity.deviceID { json.member("device_id", deviceID) }
        json.member("device_token", identity.token)
        json.member("registered_at", registeredAt)
        if let refusal = change.refusal {
            json.member("status", refusal.status)
            json.member("reason", refusal.reason)
            json.member("timestamp", refusal.timestamp)
        }
        json.endObject()
        return json.bytes
    }
}
