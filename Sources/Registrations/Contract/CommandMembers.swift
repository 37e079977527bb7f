import APNSProtocol
import Crypto
import JSON
import Text

/// The members of a command that is valid under the schema.
struct CommandMembers {
    let root: JSONValue
    let word: RegistrationCommand.Word

    /// Reads the members of a command.
    ///
    /// - Throws: ``CommandViolation`` of the class `schema`.
    init(_ root: JSONValue) throws(CommandViolation) {
        guard root.kind == .object else {
            throw CommandViolation(.schema, "type", path: "", "The command is not a JSON object.")
        }
        for (key, value) in root.members {
            guard let member = key.string.flatMap({ CommandMember(rawValue: $0) }) else {
                throw Self.unknown(key.string ?? "")
            }
            guard let keyword = member.violatedKeyword(of: value) else { continue }
            throw Self.violation(of: member, keyword, "is not \(member.form)")
        }
        guard let word: RegistrationCommand.Word = Self.word(.command, in: root) else {
            throw Self.missing(.command)
        }
        (self.root, self.word) = (root, word)
        let form = CommandForm(word, kind: kind, hasToken: has(.deviceToken))
        for member in form.required where !has(member) { throw missingMember(member) }
        for member in CommandMember.allCases where has(member) && !form.allows(member) {
            throw Self.violation(of: member, "properties", "is not allowed in this command")
        }
    }

    private static func violation(
        of member: CommandMember, _ keyword: String, _ predicate: String
    ) -> CommandViolation {
        CommandViolation(
            .schema, keyword, path: "/\(member.rawValue)", "The member \(member.rawValue) \(predicate).")
    }

    private static func missing(_ member: CommandMember, _ reason: String = "") -> CommandViolation {
        CommandViolation(.schema, "required", path: "", "The command has no \(member.rawValue)\(reason).")
    }

    private func missingMember(_ member: CommandMember) -> CommandViolation {
        guard member == .scope, let kind, let meaning = kind.scopeMeaning else { return Self.missing(member) }
        return Self.missing(member, ", which names \(meaning) of the kind \(kind.rawValue)")
    }

    /// Returns the violation for an unknown member. It omits the unknown name, which may be a token or a user.
    private static func unknown(_ name: String) -> CommandViolation {
        let known = CommandMember.allCases.map(\.rawValue)
        let list = known.joined(separator: ", ")
        let hint = Suggestion.hint(for: name, among: known)
        return CommandViolation(
            .schema, "additionalProperties", path: "",
            "The command has an unknown member; the members of commands are \(list)\(hint.isEmpty ? "." : hint)")
    }

    func has(_ member: CommandMember) -> Bool { root[key: member.rawValue] != nil }

    func text(_ member: CommandMember) -> String? { root[key: member.rawValue]?.string }

    func integer(_ member: CommandMember) -> Int64? { root[key: member.rawValue]?.int64 }

    func bool(_ member: CommandMember) -> Bool? { root[key: member.rawValue]?.bool }

    private static func word<Word: RawRepresentable<String>>(_ member: CommandMember, in root: JSONValue) -> Word? {
        root[key: member.rawValue]?.string.flatMap { Word(rawValue: $0) }
    }

    var id: UUIDValue? { text(.id).flatMap { UUIDValue($0) } }

    var environment: APNSEnvironment? { Self.word(.environment, in: root) }

    var kind: TokenKind? { Self.word(.kind, in: root) }

    var platform: DevicePlatform? { Self.word(.platform, in: root) }
}
