import CommandKit
import Configuration
import RegistrationTools
import Registrations
import Text

/// The command that stores the registrations of a file.
struct RegistrationsImportCommand: RegistrationsCommand {
    static let syntax = CommandSyntax(
        path: ["registrations", "import"],
        summary: "Store the registrations of a file.",
        discussion: """
            FILE is CSV with a header line, or has one JSON object per line, with the members of the register command:
            app, user, device_token and registered_at; if known, environment, kind, scope, device_id, platform,
            expires_at and shared. Times are UNIX milliseconds, in CSV also times such as 2026-11-29T17:00:00Z. An
            import follows the rules of the command: a registration that is older than the stored one, or than an end,
            changes nothing. The age of registrations is not limited.
            Refused lines go to FILE.rejects, with line number and reason. The progress is in FILE.checkpoint; after an
            interruption or a failure, continue with --resume. A repeated import changes nothing. FILE may be - for
            standard input: rejects are then printed, and there is no checkpoint.
            A file of `export` also contains ends, which are hashes. Only a store with the same index key can restore
            them; with another index key, they are rejects.
            Workers publish the events of the import, such as moved and replaced.

            \(RegistrationsText.sqliteWriters) \(RegistrationsText.exitCodes)
            """,
        operands: "FILE",
        options: [
            .config(isRequired: true),
            OptionSyntax(name: "dry-run", help: "only check the file; write FILE.rejects"),
            OptionSyntax(
                name: "registered-at", value: "TIME",
                help: "time of lines without registered_at; must not be later than their registrations, since a 410 "
                    + "response of APNs does not end newer ones"),
            OptionSyntax(name: "resume", help: "continue after the lines that FILE.checkpoint covers"),
            .json,
        ])
    static let changesStore = true

    let configPath: String
    let options: RegistrationImport.Options
    let isDryRun: Bool
    let isJSON: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        configPath = parsed.required("config")
        guard parsed.operands.count == 1 else { throw UsageError("expected one FILE, got \(parsed.operands.count)") }
        let file = parsed.operands[0]
        let resumes = parsed.has("resume")
        isDryRun = parsed.has("dry-run")
        if resumes, file == "-" { throw UsageError("option --resume requires a file, not standard input") }
        if resumes, isDryRun { throw UsageError("options --resume and --dry-run are mutually exclusive") }
        options = RegistrationImport.Options(
            path: file, resumes: resumes, registeredAt: try parsed.registrationTime("registered-at"))
        isJSON = parsed.has("json")
    }

    func execute() throws(ConfigurationError) -> ExitCode { try execute(opensStore: !isDryRun) }

    func execute(_ task: RegistrationsTask) async -> ExitCode {
        var options = options
        (options.indexKey, options.location) = (task.access.indexKey, task.access.location)
        let work = RegistrationImport(
            options, into: isDryRun ? nil : task.store, on: task.loop,
            environment: { app, named throws(CommandViolation) in try task.access.environment(of: app, named) },
            rejected: { for reject in $0 { Terminal.error.line("martlet: line \(reject.line): \(reject.sentence)") } },
            isStopped: { task.interruption.code != nil })
        var progress: ImportProgress?
        let line = ProgressLine(on: task.loop, isJSON: isJSON) { elapsed in
            progress?.text(bytes: work.bytes, line: work.line, after: elapsed) ?? ""
        }
        let end = await work.run { size in
            progress = ImportProgress(size: size, begin: (work.bytes, work.line))
        }
        line.end()
        let code = report(end, task)
        Terminal.output.line(
            isJSON ? RegistrationsText.json(work.counts, lastLine: work.line) : work.counts.text)
        if work.counts.rejectedCount > 0, options.path != "-" {
            let rejects = RegistrationImport.rejectsPath(of: options.path)
            Terminal.error.line("martlet: reasons of the rejects: \(rejects)".printable)
        }
        return code == .success && work.counts.rejectedCount > 0 ? .failed : code
    }

    /// Prints the failure, if any, and a command line if it can continue the import. Returns the exit code.
    private func report(_ end: RegistrationImport.End, _ task: RegistrationsTask) -> ExitCode {
        let code: ExitCode
        switch end {
        case .complete: return .success
        case .failed(let error):
            Terminal.error.line("martlet: \(error)".printable)
            return .failed
        case .stopped: code = task.interruption.code ?? .failed
        case .storeFailed(let fault): code = task.report(fault)
        }
        guard options.path != "-", !isDryRun else { return code }
        Terminal.error.line("martlet: to continue, run: \(continuation)".printable)
        return code
    }

    /// The command line that continues this import.
    var continuation: String {
        var words = ["martlet registrations import --config \(Shell.word(configPath)) --resume"]
        if let time = options.registeredAt { words.append("--registered-at \(time)") }
        if isJSON { words.append("--json") }
        return (words + [Shell.operand(options.path)]).joined(separator: " ")
    }
}
