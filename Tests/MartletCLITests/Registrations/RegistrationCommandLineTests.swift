import CommandKit
import PostgreSQL
import Registrations
import Testing

@testable import MartletCLI
@testable import RegistrationTools

/// The command lines of `martlet registrations`.
@Suite struct RegistrationCommandLineTests {
    @Test func `Commands have the options of their lines`() throws {
        let show = try parse("show --config c --user ann --app a --reveal --json", as: RegistrationsShowCommand.self)
        #expect(show.configPath == "c" && show.users == .user("ann") && show.app == "a")
        #expect(show.reveals && show.isJSON)
        #expect(try parse("show --config c --user-file -", as: RegistrationsShowCommand.self).users.isStandardInput)
        let count = try parse("count --config c --by age,app,age", as: RegistrationsCountCommand.self)
        #expect(count.keys == [.age, .app])
        #expect(try parse("count --config c", as: RegistrationsCountCommand.self).keys == [.app, .environment, .kind])
        let load = try parse(
            "import --config c --registered-at 2025-06-01T00:00:00Z --resume f", as: RegistrationsImportCommand.self)
        #expect(load.options.path == "f" && load.options.resumes && load.options.registeredAt == 1_748_736_000_000)
        #expect(try parse("import --config c --dry-run -", as: RegistrationsImportCommand.self).isDryRun)
        let export = try parse("export --config c --output f --app a", as: RegistrationsExportCommand.self)
        #expect(export.output == "f" && export.users == .none && export.app == "a" && !export.reveals)
        let erase = try parse("erase --config c --user-file f --yes", as: RegistrationsEraseCommand.self)
        #expect(erase.users == .file("f") && erase.saysYes && !erase.reveals)
        #expect(try parse("unsuspend --config c --app a", as: RegistrationsUnsuspendCommand.self).app == "a")
        let key = "00000000-0000-0001-0000-000000000002"
        #expect(try parse("rekey --config c --from \(key)", as: RegistrationsRekeyCommand.self).last?.text == key)
        #expect(try parse("keys --add f", as: RegistrationsKeysCommand.self).adds)
        let migrate = try parse(
            "migrate --config c --url postgresql://owner@db/push --password-file p --check",
            as: RegistrationsMigrateCommand.self)
        #expect(try migrate.url == PostgresURL("postgresql://owner@db/push"))
        #expect(migrate.passwordFile == "p" && migrate.checks)
    }

    @Test(arguments: [
        ("show --config c", "option --user USER or --user-file FILE is missing"),
        ("show --config c --user a --user-file f", "options --user and --user-file are mutually exclusive"),
        (
            "count --config c --by ap",
            "option --by: expected one or more of app, environment, kind, platform, age, got 'ap'"
        ),
        ("import --config c --resume -", "option --resume requires a file, not standard input"),
        ("import --config c --resume --dry-run f", "options --resume and --dry-run are mutually exclusive"),
        ("import --config c a b", "expected one FILE, got 2"),
        (
            "import --config c --registered-at 1748736000 f",
            "option --registered-at: expected UNIX milliseconds or a time such as 2026-11-29T17:00:00Z, got '1748736000'"
        ),
        ("unsuspend --config c", "option --app BUNDLE-ID is missing"),
        ("rekey --config c --from x", "option --from: expected a key that an interrupted command printed, got 'x'"),
        ("migrate --config c --check --print", "options --check and --print are mutually exclusive"),
        (
            "migrate --config c --url postgresql://a:b@c/d",
            "option --url: the PostgreSQL URL contains a password; write the password to a separate file"
        ),
        (
            "erase --config c --users a",
            "unknown option --users; did you mean --user?"
        ),
    ])
    func `Mistakes are reported in one line`(line: String, message: String) {
        #expect {
            _ = try Program.martlet.request(("registrations " + line).split(separator: " ").map(String.init))
        } throws: { error in
            (error as? UsageError)?.message == message
        }
    }

    @Test func `The command that continues an import is complete`() throws {
        let command = try parse(
            "import --config a'b --registered-at 2025-06-01T00:00:00Z --json -- -f", as: RegistrationsImportCommand.self
        )
        #expect(
            command.continuation
                == #"martlet registrations import --config 'a'\''b' --resume --registered-at 1748736000000 --json -- -f"#
        )
    }

    @Test func `A file of users has one user per line`() {
        #expect(UserChoice.users(in: Array("ann\r\n\nbob smith\nann\n".utf8)) == ["ann", "bob smith"])
        #expect(UserChoice.users(in: []) == nil && UserChoice.users(in: [0xFF]) == nil)
    }

    private func parse<Expected: Command>(_ line: String, as type: Expected.Type) throws -> Expected {
        try Program.martlet.command(("registrations " + line).split(separator: " ").map(String.init))
    }
}
