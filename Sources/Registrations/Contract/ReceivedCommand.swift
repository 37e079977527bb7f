public import APNSProtocol
public import Crypto
import JSON

/// A command received over AMQP (`schemas/registration.schema.json`), or a line of an import.
public struct ReceivedCommand: Sendable, Hashable {
    /// Maximum size of a command, or of a line of an import.
    public static let bytesMax = 16_384
    /// Maximum time by which a command may be ahead of the clock of this machine.
    public static let aheadMillisecondsMax: Int64 = 5 * 60_000
    private static let limits = JSONLimits(bytesMax: bytesMax, depthMax: 4)

    /// The origin of a command. It determines the maximum age of the time `registered_at`.
    public enum Source: Sendable, Hashable {
        /// The queue. The maximum age is `RegistrationRules.tombstoneMillisecondsMax`, because the store may have
        /// deleted older tombstones.
        case queue
        /// An import, for which there is no maximum age.
        case `import`
    }

    /// A function that returns the environment of a command from its app and its member `environment`, which may be
    /// missing.
    ///
    /// - Throws: ``CommandViolation`` of the class `app` if the app or the environment is not configured.
    public typealias EnvironmentLookup = (_ app: String, APNSEnvironment?) throws(CommandViolation) -> APNSEnvironment

    public let id: UUIDValue
    public let command: RegistrationCommand

    /// Reads and validates a command.
    ///
    /// - Parameters:
    ///   - messageID: The id of a command without the member `id`, from the property `message-id`.
    ///   - now: UNIX milliseconds.
    public init(
        _ body: [UInt8], messageID: UUIDValue?, from source: Source, now: Int64, environment: EnvironmentLookup
    ) throws(CommandViolation) {
        guard body.count <= Self.bytesMax else {
            throw CommandViolation(.size, "message_bytes", "The body is larger than \(Self.bytesMax) bytes.")
        }
        let members = try CommandMembers(try Self.root(of: body))
        try Self.checkTexts(of: members)
        try Self.checkTimes(of: members, source, now)
        guard let id = members.id ?? messageID else {
            throw CommandViolation(
                .property, "message-id",
                "The command has no id: set \"id\" (a UUID) or the AMQP message-id, the same at every publish.")
        }
        self.id = id
        command = try Self.command(members, environment)
    }

    private static func root(of body: [UInt8]) throws(CommandViolation) -> JSONValue {
        do throws(JSONError) {
            return try JSONDocument(body, limits: limits).root
        } catch {
            throw CommandViolation(
                .json, error.code.rawValue,
                "The body is not JSON, at line \(error.position.line), column \(error.position.column): "
                    + "\(error.message).")
        }
    }

    private static func checkTexts(of members: CommandMembers) throws(CommandViolation) {
        let limits: [(CommandMember, Int)] = [
            (.user, RegistrationLimits.userBytesMax), (.scope, RegistrationLimits.nameBytesMax),
            (.deviceID, RegistrationLimits.nameBytesMax),
        ]
        for (member, bytesMax) in limits where members.text(member).map({ $0.utf8.count > bytesMax }) ?? false {
            throw limit(member, "has more than \(bytesMax) bytes of UTF-8")
        }
    }

    private static func checkTimes(
        of members: CommandMembers, _ source: Source, _ now: Int64
    ) throws(CommandViolation) {
        for member in [CommandMember.registeredAt, .timestamp] {
            guard let time = members.integer(member), time - now > aheadMillisecondsMax else { continue }
            throw limit(member, "is more than \(aheadMillisecondsMax / 60_000) minutes in the future: use UTC")
        }
        guard let time = members.integer(.registeredAt) else { return }
        if source == .queue && now - time > RegistrationRules.tombstoneMillisecondsMax {
            let days = RegistrationRules.tombstoneMillisecondsMax / (24 * 3_600_000)
            throw limit(.registeredAt, "is more than \(days) days old: only an import accepts older registrations")
        }
        if let end = members.integer(.expiresAt), end <= time {
            throw limit(.expiresAt, "is not later than registered_at")
        }
    }

    private static func limit(_ member: CommandMember, _ predicate: String) -> CommandViolation {
        CommandViolation(
            .limit, member.rawValue, path: "/\(member.rawValue)", "The member \(member.rawValue) \(predicate).")
    }

    private static func command(
        _ members: CommandMembers, _ environment: EnvironmentLookup
    ) throws(CommandViolation) -> RegistrationCommand {
        // `CommandMembers` guarantees the members that each case needs.
        let app = members.text(.app) ?? ""
        let user = members.text(.user) ?? ""
        let at = members.integer(.registeredAt) ?? 0
        switch members.word {
        case .register:
            return .register(
                NewRegistration(
                    address: try address(members, app, environment), user: user, deviceID: members.text(.deviceID),
                    platform: members.platform, registeredAt: at, expiresAt: members.integer(.expiresAt),
                    isShared: members.bool(.shared) ?? false))
        case .unregister:
            if members.has(.deviceToken) {
                return .unregister(.token(try address(members, app, environment)), at: at)
            }
            _ = try environment(app, nil)
            let target: UnregisterTarget =
                members.text(.deviceID).map { .device(app: app, user: user, deviceID: $0) }
                ?? .user(app: app, user: user)
            return .unregister(target, at: at)
        // An erasure includes apps that are no longer configured.
        case .erase: return .erase(user: user, app: members.text(.app), at: at)
        case .prune: return .prune(try address(members, app, environment), refusal(members))
        case .suspect: return .suspect(try address(members, app, environment), refusal(members))
        }
    }

    private static func address(
        _ members: CommandMembers, _ app: String, _ environment: EnvironmentLookup
    ) throws(CommandViolation) -> TokenAddress {
        TokenAddress(
            app: app, environment: try environment(app, members.environment), kind: members.kind ?? .device,
            scope: members.text(.scope), token: members.text(.deviceToken) ?? "")
    }

    private static func refusal(_ members: CommandMembers) -> APNSRefusal {
        APNSRefusal(
            status: Int(members.integer(.status) ?? 0), reason: members.text(.reason) ?? "",
            timestamp: members.integer(.timestamp) ?? 0)
    }
}
