import CommandKit
import RegistrationTools
import Registrations
import Text

/// The command that ends the suspensions of an app's registrations.
struct RegistrationsUnsuspendCommand: RegistrationsCommand {
    static let syntax = CommandSyntax(
        path: ["registrations", "unsuspend"],
        summary: "End the suspension of an app's registrations.",
        discussion: """
            Three responses BadDeviceToken or DeviceTokenNotForTopic of APNs, each a day or more after the last, suspend
            a registration. Run this command after you have corrected the cause, such as a wrong environment or topic.
            It deletes all suspicions of the app's registrations. Workers may run meanwhile.

            \(RegistrationsText.sqliteWriters) \(RegistrationsText.exitCodes)
            """,
        options: [.config(isRequired: true), .registrationsApp("the app", isRequired: true), .editFrom, .json])
    static let changesStore = true

    let configPath: String
    let app: String
    let last: Registration.Key?
    let isJSON: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        (configPath, app) = (parsed.required("config"), parsed.required("app"))
        last = try Registration.Key(parsed)
        isJSON = parsed.has("json")
    }

    func execute(_ task: RegistrationsTask) async -> ExitCode {
        await RegistrationsEdit(
            edit: .unsuspend(app: app), last: last, verb: "unsuspended",
            command: "martlet registrations unsuspend --config \(Shell.word(configPath)) --app \(Shell.word(app))",
            isJSON: isJSON
        ).run(task)
    }
}

/// The command that encrypts registrations with the active data key.
struct RegistrationsRekeyCommand: RegistrationsCommand {
    static let syntax = CommandSyntax(
        path: ["registrations", "rekey"],
        summary: "Encrypt registrations with the active data key.",
        discussion: """
            First add and activate a data key with `registrations keys`, so that all workers have it. Then run this
            command. Workers may run meanwhile. Run it again after the last worker has reloaded: the old key encrypts no
            registration if it prints `rekeyed 0` and the exit code is 0. Beside a worker that uses a SQLite store, the
            command fails until the worker encrypts with the active key of the command's key file. The index key cannot
            be changed, since the store finds rows by its hashes.

            \(RegistrationsText.sqliteWriters) \(RegistrationsText.exitCodes)
            """,
        options: [.config(isRequired: true), .editFrom, .json])
    static let changesStore = true

    let configPath: String
    let last: Registration.Key?
    let isJSON: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        configPath = parsed.required("config")
        last = try Registration.Key(parsed)
        isJSON = parsed.has("json")
    }

    func execute(_ task: RegistrationsTask) async -> ExitCode {
        await RegistrationsEdit(
            edit: .rekey, last: last, verb: "rekeyed",
            command: "martlet registrations rekey --config \(Shell.word(configPath))", isJSON: isJSON
        ).run(task)
    }
}

/// An edit of registrations, with its output.
private struct RegistrationsEdit {
    let edit: EditPage.Edit
    let last: Registration.Key?
    /// The word for an edited registration in the output.
    let verb: String
    /// The command line that begins the edit at the first registration.
    let command: String
    let isJSON: Bool

    func run(_ task: RegistrationsTask) async -> ExitCode {
        let work = StoreEdit(edit, after: last)
        let progress = ProgressLine(on: task.loop, isJSON: isJSON) { _ in
            "\(work.readCount) registrations read, \(work.editedCount) \(verb)"
        }
        let end = await work.run(in: task.store) { task.interruption.code != nil }
        progress.end()
        if isJSON {
            Terminal.output.line(
                #"{"event":"summary","\#(verb)":\#(work.editedCount),"unreadable":\#(work.unreadableCount),"#
                    + #""complete":\#(end == .complete)}"#)
        } else {
            Terminal.output.line("\(verb) \(work.editedCount)" + (end == .complete ? "" : ", incomplete"))
        }
        if work.unreadableCount > 0 { RegistrationsText.printUnreadable(work.unreadableCount) }
        let code: ExitCode
        switch end {
        case .complete: return work.unreadableCount == 0 ? .success : .failed
        case .stopped: code = task.interruption.code ?? .failed
        case .failed(let fault): code = task.report(fault)
        }
        let from = work.last.map { " --from \($0.text)" } ?? ""
        Terminal.error.line("martlet: to continue, run: \(command)\(from)\(isJSON ? " --json" : "")".printable)
        return code
    }
}

extension OptionSyntax {
    fileprivate static let editFrom = OptionSyntax(
        name: "from", value: "KEY", help: "continue after this key, which an interrupted command printed")
}

extension Registration.Key {
    /// Reads the option `--from`. Returns nil if the option is missing.
    fileprivate init?(_ parsed: ParsedArguments) throws(UsageError) {
        guard let text = parsed.options["from"] else { return nil }
        guard let key = Registration.Key(text) else {
            throw UsageError("option --from: expected a key that an interrupted command printed, got '\(text)'")
        }
        self = key
    }
}
