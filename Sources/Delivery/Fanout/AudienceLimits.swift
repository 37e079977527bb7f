import APNSProtocol
import JSON
import Registrations

/// The limits of requests to users that the schema does not check: lengths in bytes, and an empty attributes type.
enum AudienceLimits {
    /// Throws the first violated limit of a request that satisfies the schema. A request to a device or channel
    /// violates none.
    static func check(_ request: JSONValue) throws(RequestViolation) {
        if let user = request["user"] { try check(user, RegistrationLimits.userBytesMax, "user", path: "/user") }
        if let users = request["users"] {
            for (number, user) in users.elements.enumerated() {
                try check(user, RegistrationLimits.userBytesMax, "users", path: "/users/\(number)")
            }
        }
        if let scope = request["scope"] { try check(scope, RegistrationLimits.nameBytesMax, "scope", path: "/scope") }
        try checkAttributesType(of: request)
    }

    /// Checks the attributes type in a request to users that starts a Live Activity. The attributes type is the scope
    /// of the tokens.
    private static func checkAttributesType(of request: JSONValue) throws(RequestViolation) {
        guard request["user"] != nil || request["users"] != nil,
            let pushType = request["push_type"]?.withUTF8({ PushType($0) }) ?? nil,
            TokenKind(pushType, request: request) == .liveactivityStart,
            let type = request["payload"]?["aps"]?["attributes-type"]
        else { return }
        let path = "/payload/aps/attributes-type"
        try check(type, RegistrationLimits.nameBytesMax, "attributes-type", path: path)
        guard type.withUTF8({ $0.isEmpty }) != true else {
            throw RequestViolation(
                .limit, "attributes-type", path: path,
                "attributes-type is empty: set it to the attributes type that is the scope of the registrations.")
        }
    }

    private static func check(
        _ text: JSONValue, _ bytesMax: Int, _ code: String, path: String
    ) throws(RequestViolation) {
        let count = text.withUTF8 { $0.count } ?? 0
        guard count > bytesMax else { return }
        throw RequestViolation(
            .limit, code, path: path,
            "\(path) has \(count) bytes of UTF-8; registrations allow \(bytesMax).")
    }
}
