import CommandKit
import RegistrationTools
import Text

/// The command that creates or extends a key file.
struct RegistrationsKeysCommand: Command {
    static let syntax = CommandSyntax(
        path: ["registrations", "keys"],
        summary: "Create a key file for registrations, or add a data key to one.",
        discussion: """
            The file must not exist. It gets mode 0640; set its group to the workers' group. Keep a copy apart from the
            backups of the store: without the keys, no registration can be read. The index key cannot be changed later.
            With --add, the file must exist. Copy it to all workers before the first worker reloads: a worker without
            the new key cannot read the registrations that other workers write. Then run `martlet registrations rekey`.
            """,
        operands: "FILE", options: [OptionSyntax(name: "add", help: "add a data key to the file")])

    let path: String
    let adds: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        guard parsed.operands.count == 1 else { throw UsageError("expected one FILE, got \(parsed.operands.count)") }
        (path, adds) = (parsed.operands[0], parsed.has("add"))
    }

    func run() -> ExitCode {
        do throws(RegistrationKeyFile.Failure) {
            if adds {
                try RegistrationKeyFile.addDataKey(to: path)
            } else {
                try RegistrationKeyFile.create(path)
            }
        } catch {
            Terminal.error.line("martlet: \(error.message)".printable)
            return .failed
        }
        Terminal.output.line(
            adds
                ? "added a data key to \(path.printable)"
                : "created \(path.printable); keep a copy apart from the backups of the store")
        return .success
    }
}
