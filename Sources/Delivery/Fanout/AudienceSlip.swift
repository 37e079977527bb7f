import APNSProtocol
import JSON
import JSONSchema
import Registrations

/// The remedies for common mistakes in requests to users.
enum AudienceSlip {
    /// Returns a remedy to append to the message of a violation; nil for a violation without a known remedy.
    ///
    /// - Parameter place: The JSON pointer to the invalid value, relative to the request.
    static func remedy(for violation: SchemaViolation, at place: String, in request: JSONValue) -> String? {
        let hasUsers = request["user"] != nil || request["users"] != nil
        switch (place, violation.keyword) {
        case ("/scope", "properties"):
            guard hasUsers else { return "remove scope, which is for requests with user or users" }
            return kind(of: request)?.scopeRule == .inPayload
                ? "remove scope: the scope of a Live Activity start is aps.attributes-type"
                : "remove scope: device tokens for this push type have none"
        case ("", "required") where hasUsers && request["scope"] == nil && violation.message.contains("\"scope\""):
            return kind(of: request)?.scopeMeaning.map { "set scope to \($0), as in the registrations" }
        case ("/push_type", "not"): return "the payload of mdm is specific to a device: use device_token"
        case ("/registered_at", "properties") where hasUsers:
            return "remove registered_at: each registration has its own"
        case ("/users", "maxItems"): return "publish several requests, each with its own id"
        case ("/users", "type") where request["users"]?.kind == .string: return "use user for one user"
        case ("/user", "type") where request["user"]?.kind == .array: return "use users for several users"
        default: return nil
        }
    }

    private static func kind(of request: JSONValue) -> TokenKind? {
        let pushType = request["push_type"]?.withUTF8 { PushType($0) } ?? nil
        return pushType.flatMap { TokenKind($0, request: request) }
    }
}
