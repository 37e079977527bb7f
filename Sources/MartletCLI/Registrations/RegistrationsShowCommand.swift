import CommandKit
import EventLoop
import RegistrationTools
import Registrations

/// The command that shows the registrations of users.
struct RegistrationsShowCommand: RegistrationsCommand {
    static let syntax = CommandSyntax(
        path: ["registrations", "show"],
        summary: "Show the registrations of a user.",
        discussion: """
            Print live registrations, also suspended and expired ones. Device tokens are shortened unless --reveal is
            given.

            \(RegistrationsText.exitCodes)
            """,
        options: [
            .config(isRequired: true), .user("user to show"), .userFile, .registrationsApp("only this app"), .reveal,
            .json,
        ])
    static let changesStore = false

    let configPath: String
    let users: UserChoice
    let app: String?
    let reveals: Bool
    let isJSON: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        configPath = parsed.required("config")
        users = try UserChoice(parsed, isRequired: true)
        app = parsed.options["app"]
        (reveals, isJSON) = (parsed.has("reveal"), parsed.has("json"))
    }

    func execute(_ task: RegistrationsTask) async -> ExitCode {
        var registrations: [Registration] = []
        for user in task.users {
            let failure = await task.read(.user(user, app: app)) { page in
                registrations += page
                return true
            }
            if let failure { return failure }
        }
        let now = task.loop.now.unixMilliseconds
        let isWritten =
            isJSON
            ? registrations.allSatisfy {
                Terminal.output.json(RegistrationsText.json($0, reveals: reveals, now: now))
            }
            : write(registrations, hasUsers: task.users.count > 1, now: now)
        return isWritten ? .success : .failed
    }

    private func write(_ registrations: [Registration], hasUsers: Bool, now: Int64) -> Bool {
        guard !registrations.isEmpty else { return Terminal.output.line("no registrations") }
        return Terminal.output.write(
            RegistrationsText.table(
                registrations, hasUsers: hasUsers, reveals: reveals, now: now,
                width: Terminal.output.window?.columns))
    }
}

extension OptionSyntax {
    static func registrationsApp(_ help: String, isRequired: Bool = false) -> OptionSyntax {
        OptionSyntax(name: "app", value: "BUNDLE-ID", help: help, isRequired: isRequired)
    }
}
