import APNS
import APNSProtocol
import Crypto
import JSON
import Registrations

extension Audience {
    /// Reads a request to users that satisfies the schema and the limits.
    ///
    /// - Parameters:
    ///   - body: The bytes from which `members` were read.
    ///   - push: The push, without a device.
    ///   - route: The route of the pushes.
    /// - Throws: A violation of the class `schema` if the users are missing, or the push type is `mdm`. Also if the
    ///   scope is missing or superfluous.
    convenience init(
        _ members: borrowing RequestMembers, in body: [UInt8], app: AppDirectory.Index, environment: APNSEnvironment,
        push: APNSRequest, route: Route
    ) throws(RequestViolation) {
        let request = members.request
        let isList = members[.users] != nil
        let users =
            isList ? request["users"]?.elements.compactMap(\.string) ?? [] : members[.user]?.string.map { [$0] } ?? []
        guard let kind = TokenKind(push.pushType, request: request),
            let targetRange = members.range(of: isList ? .users : .user),
            !users.isEmpty
        else {
            throw RequestViolation(.schema, "required", "The request has no target.")
        }
        let scope = kind.scopeRule == .inPayload ? kind.scope(of: request) : members[.scope]?.string
        guard (scope == nil) == (kind.scopeRule == .none) else {
            throw RequestViolation(.schema, "required", "scope is missing or superfluous.")
        }
        self.init(
            users: users, isList: isList, push: push, app: app, environment: environment, kind: kind, scope: scope,
            route: route, requestRange: request.sourceRange, targetRange: targetRange, idRange: members.range(of: .id),
            scopeRange: members.range(of: .scope).map { Self.withComma($0, in: body) })
    }

    /// Returns the range of a member with the comma after it. The last member has the comma before it instead.
    private static func withComma(_ member: Range<Int>, in body: [UInt8]) -> Range<Int> {
        let comma = UInt8(ascii: ",")
        // Only white space is between a member and the next comma or brace.
        let next = body[member.upperBound...].firstIndex { $0 > UInt8(ascii: " ") }
        if let next, body[next] == comma { return member.lowerBound..<next + 1 }
        let previous = body[..<member.lowerBound].lastIndex(of: comma)
        return (previous ?? member.lowerBound)..<member.upperBound
    }
}

extension TokenKind {
    /// Creates the kind of the tokens to which a request to users goes. Returns nil for `mdm`.
    init?(_ pushType: PushType, request: JSONValue) {
        self.init(pushType, event: request["payload"]?["aps"]?["event"]?.string)
    }

    /// Returns the scope that a request names for tokens of this kind; nil if the request names no scope.
    func scope(of request: JSONValue) -> String? {
        switch scopeRule {
        case .none, .inRequest: request["scope"]?.string
        case .inPayload: request["payload"]?["aps"]?["attributes-type"]?.string
        }
    }
}
