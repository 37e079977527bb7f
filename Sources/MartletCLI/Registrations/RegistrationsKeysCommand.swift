import CommandKit
import RegistrationTools
import Registrations
import Text

/// The command that creates a key file, or changes its data keys.
struct RegistrationsKeysCommand: Command {
    static let syntax = CommandSyntax(
        path: ["registrations", "keys"],
        summary: "Create a key file for registrations, or change its data keys.",
        discussion: """
            Without an option, the file must not exist. It gets mode 0640; set its group to the workers' group. Keep a
            copy apart from the backups of the store: without the keys, no registration can be read. The index key
            cannot be changed later.
            To replace the data key, run --add, copy the file to all workers, and reload them. When `martlet status
            --json` or `martlet doctor` shows the new key for each worker, run --activate, and copy and reload again.
            Then run `martlet registrations rekey`. Run --remove when no worker and no backup needs the old key. Run
            each step on one machine only: another machine would create another key with the same id.
            """,
        operands: "FILE",
        options: [
            OptionSyntax(name: "add", help: "add a data key, which only decrypts"),
            OptionSyntax(name: "activate", value: "ID", help: "encrypt with this data key; the others only decrypt"),
            OptionSyntax(name: "remove", value: "ID", help: "remove a data key that encrypts no registration"),
        ])

    let path: String
    /// The change of the file; nil to create the file.
    let edit: RegistrationKeys.Edit?

    init(_ parsed: ParsedArguments) throws(UsageError) {
        guard parsed.operands.count == 1 else { throw UsageError("expected one FILE, got \(parsed.operands.count)") }
        path = parsed.operands[0]
        let edits = [
            parsed.has("add") ? .add : nil, try parsed.keyID("activate").map { .activate($0) },
            try parsed.keyID("remove").map { .remove($0) },
        ].compactMap { (edit: RegistrationKeys.Edit?) in edit }
        guard edits.count < 2 else {
            throw UsageError("options --add, --activate and --remove are mutually exclusive")
        }
        edit = edits.first
    }

    func run() -> ExitCode {
        do throws(RegistrationKeyFile.Failure) {
            guard let edit else {
                try RegistrationKeyFile.create(path)
                Terminal.output.line("created \(path.printable); keep a copy apart from the backups of the store")
                return .success
            }
            Terminal.output.line(report(edit, try RegistrationKeyFile.edit(path, edit)))
            return .success
        } catch {
            Terminal.error.line("martlet: \(error.message)".printable)
            return .failed
        }
    }

    private func report(_ edit: RegistrationKeys.Edit, _ keys: RegistrationKeys) -> String {
        switch edit {
        case .add:
            "added data key \(keys.newestKeyID), which only decrypts; copy the file to all workers and reload them, "
                + "then run: martlet registrations keys --activate \(keys.newestKeyID) \(Shell.operand(path.printable))"
        case .activate(let id):
            "data key \(id) now encrypts; copy the file to all workers and reload them, "
                + "then run: martlet registrations rekey --config FILE"
        case .remove(let id): "removed data key \(id); copy the file to all workers and reload them"
        }
    }
}

extension ParsedArguments {
    /// Reads an option whose value is the id of a data key. Returns nil if the option is missing.
    fileprivate func keyID(_ name: String) throws(UsageError) -> Int? {
        guard let text = options[name] else { return nil }
        guard let id = Int(text), RegistrationKeys.dataKeyIDs.contains(id) else {
            throw UsageError("option --\(name): expected the id of a data key, got '\(text)'")
        }
        return id
    }
}
