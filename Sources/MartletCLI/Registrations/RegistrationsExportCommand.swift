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
            --reveal.
            Without --user and --app, also write ends: the ended registrations of the last 30 days, and the marks of
            erased and signed-out users. Without the ends, a late command could register a signed-out device again. Ends
            are hashes. Only a store with the same index key can restore them: to move a store, keep its key file. The
            export omits APNs' refusals and events.

            \(RegistrationsText.exitCodes)
            """,
        options: [
            .config(isRequired: true), .user("only this user"), .userFile, .registrationsApp("only this app"),
            OptionSyntax(name: "output", value: "FILE", help: "new file to write (default: standard output)"),
            OptionSyntax(name: "no-ends", help: "omit ends, for a store with another index key"),
            OptionSyntax(name: "reveal", help: "permit a terminal as output"),
        ])
    static let changesStore = false

    let configPath: String
    let users: UserChoice
    let app: String?
    /// The path of the file; `-` is standard output.
    let output: String
    let reveals: Bool
    let omitsEnds: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        configPath = parsed.required("config")
        users = try UserChoice(parsed, isRequired: false)
        app = parsed.options["app"]
        output = parsed.options["output"] ?? "-"
        reveals = parsed.has("reveal")
        omitsEnds = parsed.has("no-ends") || users != .none || app != nil
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
        var (written, ends, unreadable, isWriting) = (0, 0, 0, true)
        let isOver = { task.interruption.code != nil }
        let progress = ProgressLine(on: task.loop, isJSON: output == "-") { _ in "\(written) registrations" }
        defer { progress.end() }
        func write(_ end: StoredEnd) async {
            isWriting = await file.write(end.line(indexKey: task.access.indexKey), on: task.loop, unless: isOver)
            if isWriting { ends += 1 }
        }
        for filter in filters {
            let failure = await task.read(filter) { page in
                for registration in page {
                    if let command = registration.command {
                        isWriting = await file.write(command.body(id: nil), on: task.loop, unless: isOver)
                        if isWriting { written += 1 }
                    } else if registration.details != nil {
                        unreadable += 1
                    } else if !omitsEnds {
                        await write(.tombstone(registration))
                    }
                    guard isWriting else { return false }
                }
                return true
            }
            if let failure { return incomplete(failure) }
            guard isWriting else { break }
        }
        if isWriting, !omitsEnds {
            let failure = await task.readMarks { page in
                for mark in page where isWriting { await write(.mark(mark)) }
                return isWriting
            }
            if let failure { return incomplete(failure) }
        }
        if isWriting { isWriting = await file.finish(on: task.loop, unless: isOver) }
        let place = output == "-" ? "standard output" : output
        guard isWriting else {
            if !isOver() { Terminal.error.line("martlet: cannot write \(place): \(file.failureReason)".printable) }
            return incomplete(task.interruption.code ?? .failed)
        }
        let andEnds = omitsEnds ? "" : " and \(ends.counted("end"))"
        Terminal.error.line(
            "martlet: \(written.counted("registration"))\(andEnds) written to \(place)".printable)
        if unreadable > 0 { RegistrationsText.printUnreadable(unreadable) }
        return unreadable == 0 ? .success : .failed
    }

    /// Prints that the file is incomplete, unless the output is standard output. Returns `code`.
    private func incomplete(_ code: ExitCode) -> ExitCode {
        if output != "-" { Terminal.error.line("martlet: \(output) is incomplete; delete the file".printable) }
        return code
    }
}
