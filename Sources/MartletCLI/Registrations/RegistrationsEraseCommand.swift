import CommandKit
import RegistrationTools
import Registrations
import Text

/// The command that erases the registrations of users.
struct RegistrationsEraseCommand: RegistrationsCommand {
    static let syntax = CommandSyntax(
        path: ["registrations", "erase"],
        summary: "Erase all registrations of a user, as a privacy request demands.",
        discussion: """
            Print one line of JSON per user, with the erased registrations, as a record of the request. Device tokens
            are shortened unless --reveal is given. A keyed hash of the user remains. Registrations from before the
            erasure therefore have no effect, not even in a later import. A registration after the erasure is stored
            again: delete the user at the producer first. Workers publish an event for each erased registration.
            Exports, backups and the producer's data are not changed.

            \(RegistrationsText.sqliteWriters) \(RegistrationsText.exitCodes)
            """,
        options: [
            .config(isRequired: true), .user("user to erase"), .userFile,
            .registrationsApp("only this app (default: all apps)"), .reveal, .yes,
        ])
    static let changesStore = true

    let configPath: String
    let users: UserChoice
    let app: String?
    let reveals: Bool
    let saysYes: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        configPath = parsed.required("config")
        users = try UserChoice(parsed, isRequired: true)
        app = parsed.options["app"]
        (reveals, saysYes) = (parsed.has("reveal"), parsed.has("yes"))
    }

    func execute(_ task: RegistrationsTask) async -> ExitCode {
        guard saysYes || ConfirmationPrompt.isInteractive && !users.isStandardInput else {
            Terminal.error.line("martlet: standard input cannot answer a question; pass --yes")
            return .usage
        }
        if !saysYes {
            let subject = task.users.count == 1 ? "the user" : "\(task.users.count) users"
            let question = "Erase all registrations of \(subject)\(app.map { " in \($0)" } ?? "")?"
            guard
                let answer = await ConfirmationPrompt.ask(question, fallback: false, on: task.loop, task.interruption)
            else { return task.interruption.code ?? .failed }
            guard answer else { return .failed }
        }
        for user in task.users {
            if let code = task.interruption.code { return code }
            let erasure = Erasure(user: user, app: app)
            do throws(StoreFault) {
                let outcome = try await erasure.run(in: task.store)
                let record = RegistrationsText.json(erasure, outcome, reveals: reveals)
                guard Terminal.output.json(record) else { return .failed }
            } catch {
                return task.report(error)
            }
        }
        return .success
    }
}
