import Configuration
import ControlProtocol
import Text

/// The headers with which a proxy names the operator.
struct ProxyHeaders: Sendable, Hashable {
    /// The effect of the headers of a request.
    enum Reading: Sendable, Hashable {
        /// A request without any of the headers.
        case absent
        /// A request whose sender may not set the headers, or that contains them in an ambiguous form.
        case forged(String)
        case present(ProxyHeaders)
    }

    private static let userName = "x-forwarded-user"
    private static let groupsName = "x-forwarded-groups"

    var user: String
    var groups: [String]

    /// Reads the headers of a request.
    ///
    /// - Parameters:
    ///   - headers: all headers, with lower-case names.
    ///   - isFromProxy: whether the configured proxy has sent the request through the Unix socket.
    static func read(_ headers: [(name: String, value: String)], isFromProxy: Bool) -> Reading {
        // Programs behind a proxy treat underscores as hyphens, so a client could add a second header (CVE-2025-64484).
        let own = headers.filter { [userName, groupsName].contains($0.name.replacing("_", with: "-")) }
        guard !own.isEmpty else { return .absent }
        guard isFromProxy else { return .forged("login headers are accepted only from the proxy's user on the socket") }
        let users = own.filter { $0.name == userName }
        let groups = own.filter { $0.name == groupsName }
        guard users.count == 1, groups.count <= 1, users.count + groups.count == own.count else {
            return .forged("login headers must occur once, and without underscores")
        }
        let user = users[0].value.trimmingSpaces
        guard !user.isEmpty, user.utf8.count <= FleetLimits.byBytesMax, user.printable == user else {
            return .forged("X-Forwarded-User must be a name of 1 to \(FleetLimits.byBytesMax) bytes")
        }
        let names = groups.flatMap { $0.value.split(separator: ",") }.map { String($0).trimmingSpaces }
        return .present(ProxyHeaders(user: user, groups: names))
    }

    /// Returns the highest role of the groups; nil if no group has a role. Names are compared exactly.
    func role(in roles: [String: OperatorRole]) -> OperatorRole? { groups.compactMap { roles[$0] }.max() }
}

extension String {
    /// The text without spaces at both ends.
    fileprivate var trimmingSpaces: String {
        let start = drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
