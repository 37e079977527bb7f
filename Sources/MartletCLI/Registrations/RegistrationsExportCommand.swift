import CommandKit
import Configuration
import RegistrationTools
import Registrations
import Text

/// The command that writes registrations to a file or to standard output.
struct RegistrationsExportCommand: RegistrationsCommand {
    static let syntax = CommandSyntax(
        path: ["registrations", "export"],
        summary: "Write registrations as JSON lines, in the format of `import`.",
        discussion: """
            Write live registrations, also suspended and expired ones, with complete device tokens and users. The file
            must not exist, and gets mode 0600. Without --output, write to standard output; a terminal requires
            --reveal. The export omits ended registrations and APNs' refusals.

            \(RegistrationsText.exitCodes)
            """,
        options: [
            .config(isRequired: true), .user("only this user"), .userFile, .registrationsApp("only this app"),
            OptionSyntax(name: "output", value: "FILE", help: "new file to write (default: standard output)"),
            OptionSyntax(name: "reveal", help: "permit a terminal as output"),
        ])
    static let changesStore = false

    let configPath: String
    let users: UserChoice
    let app: String?
    /// The path of the file; `-` is standard output.
    let output: String
    let reveals: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        configPath = parsed.required("config")
        users = try UserChoice(parsed, isRequired: false)
        app = parsed.options["app"]
        output = parsed.options["output"] ?? "-"
        reveals = parsed.has("reveal")
    }

    func execute(_ task: RegistrationsTask) async -> ExitCode {
        guard output != "-" || reveals || !Terminal.output.isTerminal else {
            Terminal.error.line(
                "martlet: standard output is a terminal; pass --output FILE, or --reveal to print device tokens and "
                    + "users")
            return .usage
        }
        do throws(ReferenceResolver.ReadFailure) {
            let file = try ExportFile(output)
            return await write(filters(task.users), to: file, task)
        } catch {
            Terminal.error.line("martlet: cannot write \(output): \(error.reason)".printable)
            return .failed
        }
    }

    private func filters(_ users: [String]) -> [RegistrationPage.Filter] {
        guard users.isEmpty else { return users.map { .user($0, app: app) } }
        return [app.map { .app($0) } ?? .all]
    }

    private func write(
        _ filters: [RegistrationPage.Filter], to file: ExportFile, _ task: RegistrationsTask
    ) async -> ExitCode {
        var (written, unreadable, isWriting) = (0, 0, true)
        let isOver = { task.interruption.code != nil }
        let progress = ProgressLine(on: task.loop, isJSON: output == "-") { _ in "\(written) registrations" }
        defer { progress.end() }
        for filter in filters {
            let failure = await task.read(filter) { page in
                for registration in page where registration.details != nil {
                    guard let command = registration.command else {
                        unreadable += 1
                        continue
                    }
                    isWriting = await file.write(command.body(id: nil), on: task.loop, unless: isOver)
                    guard isWriting else { return false }
                    written += 1
                }
                return true
            }
            if let failure { return incomplete(failure) }
            guard isWriting else { break }
        }
        if isWriting { isWriting = await file.finish(on: task.loop, unless: isOver) }
        let place = output == "-" ? "standard output" : output
        guard isWriting else {
            if !isOver() { Terminal.error.line("martlet: cannot write \(place)".printable) }
            return incomplete(task.interruption.code ?? .failed)
        }
        Terminal.error.line("martlet: \(written) registrations written to \(place)".printable)
        if unreadable > 0 { RegistrationsText.printUnreadable(unreadable) }
        return unreadable == 0 ? .success : .failed
    }

    /// Prints that the file is incomplete, unless the output is standard output. Returns `code`.
    private func incomplete(_ code: ExitCode) -> ExitCode {
        if output != "-" { Terminal.error.line("martlet: \(output) is incomplete; delete the file".printable) }
        return code
    }
}
