import CommandKit
import EventLoop
import RegistrationTools
import Registrations

/// The command that counts registrations in groups.
struct RegistrationsCountCommand: RegistrationsCommand {
    static let syntax = CommandSyntax(
        path: ["registrations", "count"],
        summary: "Count registrations in groups, largest first.",
        discussion: """
            Count live registrations, also suspended and expired ones. The age is the time since registered_at.

            \(RegistrationsText.exitCodes)
            """,
        options: [
            .config(isRequired: true), .registrationsApp("only this app"),
            OptionSyntax(
                name: "by", value: "KEYS",
                help: "comma-separated keys of the groups: \(RegistrationGroups.Key.list) "
                    + "(default: app,environment,kind)"),
            .json,
        ])
    static let changesStore = false

    let configPath: String
    let app: String?
    let keys: [RegistrationGroups.Key]
    let isJSON: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        configPath = parsed.required("config")
        app = parsed.options["app"]
        keys = try parsed.options["by"].map(Self.keys) ?? [.app, .environment, .kind]
        isJSON = parsed.has("json")
    }

    private static func keys(_ text: String) throws(UsageError) -> [RegistrationGroups.Key] {
        var keys: [RegistrationGroups.Key] = []
        for word in text.split(separator: ",") {
            guard let key = RegistrationGroups.Key(rawValue: String(word)) else {
                throw UsageError("option --by: expected one or more of \(RegistrationGroups.Key.list), got '\(word)'")
            }
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    func execute(_ task: RegistrationsTask) async -> ExitCode {
        var groups = RegistrationGroups(by: keys)
        let progress = ProgressLine(on: task.loop, isJSON: isJSON) { _ in "\(groups.count) registrations" }
        let failure = await task.read(app.map { .app($0) } ?? .all) { page in
            for registration in page { groups.add(registration, now: task.loop.now.unixMilliseconds) }
            return true
        }
        progress.end()
        if let failure { return failure }
        if groups.unreadableCount > 0 { RegistrationsText.printUnreadable(groups.unreadableCount) }
        let isWritten =
            isJSON
            ? RegistrationsText.json(groups).allSatisfy { Terminal.output.json($0) }
            : Terminal.output.write(RegistrationsText.table(groups))
        return isWritten ? .success : .failed
    }
}
