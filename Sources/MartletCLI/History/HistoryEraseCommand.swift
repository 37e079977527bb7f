import AMQP
import BrokerManagement
import CommandKit
import Configuration
import Console
import ControlProtocol
import Crypto
import Delivery
import Glibc
import History
import SQLite
import Text
import Worker

/// The command that erases a device, a user or a request from the history of a console.
struct HistoryEraseCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["history", "erase"],
        summary: "Erase a device, user or request from a console's history, as a privacy request demands.",
        discussion: """
            Run the command on the machine of the console, as its user, with its configuration. It deletes all
            requests of the device or user, and their samples of dead letters, and rebuilds the files that contained them.
            Samples that name neither a device nor a user in a readable form are deleted, too. A keyed hash of the subject
            remains, so that earlier requests are not stored again when the console reads the journal again. Later requests
            are stored: delete the user at the producer first. Each console has a history of its own. The journal keeps
            requests for 72 hours. Results, dead letters, backups and the producer's data are not changed.

            A running console closes the history for the command, and opens it again within seconds after the command has
            ended. Meanwhile, workers push, and the console answers all other questions. The command needs free space on
            the disk, and free memory, of the size of the largest file, usually below 300 MB.

            The command adds a record to the audit before and after the erasure, without the subject. If the broker does
            not confirm the first record, the command erases nothing. Exit code 0: erased, also if there was nothing to
            erase, 1: not erased, or not completely: run the command again, 3: broker unreachable.
            """,
        options: [
            .config(isRequired: true),
            OptionSyntax(
                name: "token", value: "TOKEN",
                help: "whole device token to erase; other users of this machine can see the arguments"),
            .user("user to erase"),
            OptionSyntax(name: "id", value: "ID", help: "id of the request to erase"), .yes,
        ])

    /// The minimum number of digits of a device token of APNs.
    private static let tokenDigitsMin = 64
    /// The time after the erasure up to which a replay skips lines, because clocks of workers may be ahead, and lines
    /// arrive late.
    private static let lateMilliseconds: Int64 = 60_000

    let configPath: String
    let subject: HistorySubject
    let saysYes: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        configPath = parsed.required("config")
        saysYes = parsed.has("yes")
        switch (parsed.options["token"], parsed.options["user"], parsed.options["id"]) {
        case (let token?, nil, nil):
            guard token.utf8.count >= Self.tokenDigitsMin, token.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
                throw UsageError("option --token: expected a whole device token of 64 or more hexadecimal digits")
            }
            subject = .token(token)
        case (nil, let user?, nil):
            guard !user.isEmpty else { throw UsageError("option --user: expected a user") }
            subject = .user(user)
        case (nil, nil, let id?):
            guard let id = RequestIdentity.of(messageID: id) else { throw UsageError("option --id: expected an id") }
            subject = .id(id)
        case (nil, nil, nil): throw UsageError("option --token TOKEN, --user USER or --id ID is missing")
        default: throw UsageError("options --token, --user and --id are mutually exclusive")
        }
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        CoreDump.disable()
        let configuration = try ConfigurationFile(configPath).console()
        guard let settings = configuration.history else {
            let sentence = "\(configPath) has no section journal, so its consoles have no history"
            Terminal.error.line("martlet: \(sentence)".printable)
            return .usage
        }
        guard saysYes || ConfirmationPrompt.isInteractive else {
            Terminal.error.line("martlet: standard input cannot answer a question; pass --yes")
            return .usage
        }
        guard saysYes || ConfirmationPrompt.confirmImmediately("Erase the \(kind) from the history?") else {
            return .failed
        }
        let files: HistoryFiles
        do throws(HistoryFiles.Failure) {
            files = try HistoryFiles(existing: settings)
        } catch {
            Terminal.error.line("martlet: cannot erase: \(error.sentence)".printable)
            return .failed
        }
        let release = HistoryRelease(
            folder: settings.folder, socketPaths: configuration.socketPath.map { [$0] } ?? ControlSocket.consolePaths)
        do throws(CryptoError) {
            return run(files, release, try HistoryAudit(configuration.broker, command: command))
        } catch {
            Terminal.error.line("martlet: cannot erase: \(error.message)".printable)
            return .failed
        }
    }

    private func run(_ files: HistoryFiles, _ release: HistoryRelease, _ audit: HistoryAudit) -> ExitCode {
        let code = audit.record(.before)
        guard code == .success else { return code }
        let erasure = HistoryErasure(files.folder, files.keys)
        let outcome: HistoryErasure.Outcome
        do throws(SQLiteError) {
            outcome = try release.withFiles { () throws(SQLiteError) in
                try erasure.run(subject, at: Int64(Glibc.time(nil)) * 1000 + Self.lateMilliseconds)
            }
        } catch {
            Terminal.error.line("martlet: \(error)".printable)
            _ = audit.record(.after, .failed, result: "not erased, or not completely: \(error.code.rawValue)")
            return .failed
        }
        Terminal.output.line("erased \(outcome.rows) lines of the history in \(files.folder.path)".printable)
        guard outcome.unreadableSegments.isEmpty else {
            let names = outcome.unreadableSegments.map { "segment-\($0).sqlite" }.joined(separator: ", ")
            Terminal.error.line(
                ("martlet: cannot erase from \(names) in \(files.folder.path): damaged, or without its data key; "
                    + "delete them, or add the key to the key file again, and repeat the command").printable)
            let result = "erased \(outcome.rows) lines; \(outcome.unreadableSegments.count) files are unreadable"
            _ = audit.record(.after, .failed, result: result, count: outcome.rows)
            return .failed
        }
        _ = audit.record(.after, .done, result: "erased \(outcome.rows) lines", count: outcome.rows)
        return .success
    }

    /// The word for the subject in texts.
    private var kind: String {
        switch subject {
        case .token: "device"
        case .user: "user"
        case .id: "request"
        }
    }

    /// The command line for the audit, which must not contain the subject.
    private var command: String {
        let option =
            switch subject {
            case .token: "--token"
            case .user: "--user"
            case .id: "--id"
            }
        return "martlet history erase \(option) … --config \(Shell.word(configPath))"
    }
}
