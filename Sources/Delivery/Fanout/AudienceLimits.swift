import APNSProtocol
import JSON
import Registrations

/// The limits of requests to users that the schema does not check: lengths in bytes, and an empty attributes type.
enum AudienceLimits {
    /// Throws the first violated limit of a request that satisfies the schema. A request to a device or channel
    /// violates none.
    ///
    /// - Parameter pushType: The push type of the request; nil if it is unknown.
    static func check(
        _ members: borrowing RequestMembers, _ pushType: PushType?
    ) throws(RequestViolation) {
        guard members[.user] != nil || members[.users] != nil else { return }
        if let user = members[.user]?.text {
            try check(user.count, RegistrationLimits.userBytesMax, "user", "/user")
        } else if let users = members.request["users"] {
            for (number, user) in users.elements.enumerated() {
                try check(bytes(of: user), RegistrationLimits.userBytesMax, "users", "/users/\(number)")
            }
        }
        if let scope = members[.scope]?.text {
            try check(scope.count, RegistrationLimits.nameBytesMax, "scope", "/scope")
        }
        if let pushType { try checkAttributesType(of: members.request, pushType) }
    }

    /// Checks the attributes type in a request to users that starts a Live Activity. The attributes type is the scope
    /// of the tokens.
    private static func checkAttributesType(
        of request: JSONValue, _ pushType: PushType
    ) throws(RequestViolation) {
        guard TokenKind(pushType, request: request) == .liveactivityStart,
            let type = request["payload"]?["aps"]?["attributes-type"]
        else { return }
        let path = "/payload/aps/attributes-type"
        try check(bytes(of: type), RegistrationLimits.nameBytesMax, "attributes-type", path)
        guard bytes(of: type) > 0 || type.kind != .string else {
            throw RequestViolation(
                .limit, "attributes-type", path: path,
                "attributes-type is empty: set it to the attributes type that is the scope of the registrations.")
        }
    }

    private static func bytes(of text: JSONValue) -> Int { text.withUTF8 { $0.count } ?? 0 }

    /// - Parameter path: The JSON pointer to the text. It is evaluated only if the text is too long.
    private static func check(
        _ count: Int, _ bytesMax: Int, _ code: String, _ path: @autoclosure () -> String
    ) throws(RequestViolation) {
        guard count > bytesMax else { return }
        let path = path()
        throw RequestViolation(
            .limit, code, path: path,
            "\(path) has \(count) bytes of UTF-8; registrations allow \(bytesMax).")
    }
}
