import APNSProtocol
import CommandKit
import Crypto
import JSON
import Registrations

/// The options of a command that publishes registration commands.
struct RegistrationCommandOptions: Equatable, Sendable {
    /// The members with the text of an option. The option has the same name, with a dash instead of each underscore.
    private static let textMembers = [
        "app", "environment", "kind", "scope", "device_token", "device_id", "platform",
    ]
    static let timeoutSecondsDefault = 30
    private static let timeoutSecondsMax = 86_400

    let word: RegistrationCommand.Word
    let broker: BrokerOptions
    /// The users. Each user has a command of its own. `none` if the command names a token instead.
    let users: UserChoice
    /// The bundle ID.
    let app: String
    private let texts: [String: String]
    /// UNIX milliseconds; nil for the time at which the command is created.
    let registeredAt: Int64?
    /// UNIX milliseconds; nil for the default lifetime of the token's kind.
    let expiresAt: Int64?
    let isShared: Bool
    let timeoutSeconds: Int
    let isJSON: Bool

    /// Creates the options from a parsed command line.
    ///
    /// - Parameter requiresUser: Whether the command must name a user.
    init(
        _ word: RegistrationCommand.Word, _ parsed: ParsedArguments, requiresUser: Bool
    ) throws(UsageError) {
        self.word = word
        broker = try BrokerOptions(parsed)
        users = try UserChoice(parsed, isRequired: requiresUser)
        app = parsed.required("app")
        texts = Dictionary(
            uniqueKeysWithValues: Self.textMembers.compactMap { member in
                parsed.options[member.replacing("_", with: "-")].map { (member, $0) }
            })
        registeredAt = try parsed.registrationTime("registered-at")
        expiresAt = try parsed.registrationTime("expires-at")
        isShared = parsed.has("shared")
        timeoutSeconds = try parsed.integer("timeout", upTo: Self.timeoutSecondsMax) ?? Self.timeoutSecondsDefault
        isJSON = parsed.has("json")
    }

    /// Returns the body of the command for a user. A secret.
    ///
    /// - Parameters:
    ///   - user: nil if the command names a token.
    ///   - now: UNIX milliseconds.
    /// - Throws: The violation that a worker would find, except that this program does not know the workers' apps.
    func body(of user: String?, id: UUIDValue, now: Int64) throws(CommandViolation) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("command", word.rawValue)
        json.member("id", id.description)
        for member in Self.textMembers {
            guard let text = texts[member] else { continue }
            json.key(member)
            json.string(text)
        }
        if let user { json.member("user", user) }
        json.member("registered_at", registeredAt ?? now)
        if let expiresAt { json.member("expires_at", expiresAt) }
        if isShared { json.member("shared", true) }
        json.endObject()
        _ = try ReceivedCommand(json.bytes, messageID: nil, from: .queue, now: now) {
            (_, named) throws(CommandViolation) in named ?? .production
        }
        return json.bytes
    }
}
