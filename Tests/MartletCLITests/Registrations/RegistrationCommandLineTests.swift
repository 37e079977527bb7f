import CommandKit
import Crypto
import Registrations
import TestKit
import Testing

@testable import MartletCLI
@testable import PostgreSQL
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
        let register = try parse(
            "register --url u --user ann --app a --device-token 0a --expires-at 1750000000000 --shared --json",
            as: RegistrationsRegisterCommand.self
        ).options
        #expect(register.broker.url == "u" && register.users == .user("ann") && register.app == "a")
        #expect(register.expiresAt == 1_750_000_000_000 && register.registeredAt == nil)
        #expect(register.isShared && register.isJSON && register.timeoutSeconds == 30)
        let unregister = try parse(
            "unregister --config c --app a --device-token 0a --timeout 5", as: RegistrationsUnregisterCommand.self
        ).options
        #expect(unregister.word == .unregister && unregister.users == .none && unregister.timeoutSeconds == 5)
        #expect(try parse("keys f", as: RegistrationsKeysCommand.self).edit == nil)
        #expect(try parse("keys --add f", as: RegistrationsKeysCommand.self).edit == .add)
        #expect(try parse("keys --activate 2 f", as: RegistrationsKeysCommand.self).edit == .activate(2))
        #expect(try parse("keys --remove 1 f", as: RegistrationsKeysCommand.self).edit == .remove(1))
        let migrate = try parse(
            "migrate --config c --url postgresql://owner@db/push --password-file p --check",
            as: RegistrationsMigrateCommand.self)
        #expect(try migrate.url == PostgresURL("postgresql://owner@db/push"))
        #expect(migrate.passwordFile == "p" && migrate.checks)
    }

    @Test(arguments: [
        ("keys --add --remove 1 f", "options --add, --activate and --remove are mutually exclusive"),
        ("keys --activate 0 f", "option --activate: expected the id of a data key, got '0'"),
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
        (
            "import --config c --registered-at 2000-01-01T00:00:00Z f",
            "option --registered-at: expected a time from 2001-09-09T01:46:40Z to 2286-11-20T17:46:39Z, got "
                + "'2000-01-01T00:00:00Z'"
        ),
        (
            "register --app a --user b --device-token 0a --expires-at 0000000000001",
            "option --expires-at: expected a time from 2001-09-09T01:46:40Z to 2286-11-20T17:46:39Z, got '0000000000001'"
        ),
        ("unsuspend --config c", "option --app BUNDLE-ID is missing"),
        ("register --app a --user b", "option --device-token TOKEN is missing"),
        ("register --app a --device-token 0a", "option --user USER or --user-file FILE is missing"),
        (
            "register --app a --user b --device-token 0a --registered-at now",
            "option --registered-at: expected UNIX milliseconds or a time such as 2026-11-29T17:00:00Z, got 'now'"
        ),
        ("unregister --app a", "option --user USER or --user-file FILE is missing"),
        (
            "unregister --app a --user b --device-token 0a",
            "options --device-token and --user are mutually exclusive"
        ),
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

    @Test func `The body of a command has the members of the options`() throws {
        let command = try parse(
            "register --user ann --app com.example.app --device-token 0A0B --kind liveactivity --scope a1 "
                + "--environment sandbox --device-id d --platform ios --registered-at 1750000000000 --shared",
            as: RegistrationsRegisterCommand.self)
        let body = try command.options.body(of: "ann", id: UUIDValue(high: 0, low: 7), now: 1_750_000_000_001)
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"command":"register","id":"00000000-0000-0000-0000-000000000007","app":"com.example.app","#
                + #""environment":"sandbox","kind":"liveactivity","scope":"a1","device_token":"0A0B","device_id":"d","#
                + #""platform":"ios","user":"ann","registered_at":1750000000000,"shared":true}"#)
    }

    @Test(arguments: [
        ("register --user ann --app a --device-token xyz", "device_token"),
        ("register --user ann --app a --device-token 0a --kind controls", "which names the control of the kind"),
        ("unregister --user ann --app a --kind voip", "kind is not allowed"),
        ("unregister --device-token 0a --app a --device-id d", "device_id is not allowed"),
    ])
    func `An invalid command is not published`(line: String, words: String) throws {
        let arguments = ["registrations"] + line.split(separator: " ").map(String.init)
        let options =
            line.hasPrefix("register")
            ? try (Program.martlet.command(arguments) as RegistrationsRegisterCommand).options
            : try (Program.martlet.command(arguments) as RegistrationsUnregisterCommand).options
        let user = options.users == .none ? nil : "ann"
        #expect {
            _ = try options.body(of: user, id: UUIDValue(high: 0, low: 7), now: 1_750_000_000_000)
        } throws: { error in
            (error as? CommandViolation)?.sentence.contains(words) ?? false
        }
    }

    @Test func `A reply has the exit code of its effect`() {
        func reply(_ outcome: String, _ word: RegistrationCommand.Word) -> CommandReply {
            CommandReply(Array(#"{"outcome":"\#(outcome)","message":"No."}"#.utf8), to: word, id: "7")
        }
        for outcome in ["stored", "unchanged", "moved"] {
            #expect(reply(outcome, .register).exitCode == .success)
            #expect(reply(outcome, .register).line == "\(outcome)  7")
        }
        for outcome in ["superseded", "ended", "invalid"] { #expect(reply(outcome, .register).exitCode == .failed) }
        for outcome in ["ended", "unchanged", "not_found"] {
            #expect(reply(outcome, .unregister).exitCode == .success)
        }
        #expect(reply("superseded", .unregister).line == "superseded  7: a newer registration remains")
        #expect(reply("invalid", .register).line == "invalid  7: No.")
        #expect(CommandReply([], to: .register, id: "7").exitCode == .failed)
    }

    @Test func `A wait for a reply ends when its channel is lost, or in time`() async throws {
        try await onEpollLoop { loop in
            let replies = ReplyWait(on: loop)
            // The loss of a channel without an expected reply has no effect.
            replies.channelLost()
            replies.expect("one")
            replies.channelLost()
            #expect(await replies.answer(withinSeconds: 60) == .lost)
            replies.expect("two")
            #expect(await replies.answer(withinSeconds: 0) == .timedOut)
        }
    }

    @Test func `A file of users has one user per line`() {
        #expect(UserChoice.users(in: Array("ann\r\n\nbob smith\nann\n".utf8)) == ["ann", "bob smith"])
        #expect(UserChoice.users(in: []) == nil && UserChoice.users(in: [0xFF]) == nil)
    }

    /// Users are compared byte for byte. A byte order mark belongs to the file.
    @Test(
        arguments: [
            ([0xEF, 0xBB, 0xBF] + Array("ann\n".utf8), ["ann"]), (Array("\r\n\nann".utf8), ["ann"]),
            (Array("zo\u{EB}\nzoe\u{308}\nzo\u{EB}\n".utf8), ["zo\u{EB}", "zoe\u{308}"]),
            (Array("a\u{2028}b\nc\u{85}d\ne\rf\n".utf8), ["a\u{2028}b", "c\u{85}d", "e\rf"]),
            (Array("\u{301}g\r\n".utf8), ["\u{301}g"]),
        ] as [([UInt8], [String])])
    func `Users of a file are texts between line ends`(file: [UInt8], users: [String]) {
        #expect(UserChoice.users(in: file)?.map { Array($0.utf8) } == users.map { Array($0.utf8) })
    }

    @Test(arguments: ["word", "word\n", "word\r\n"])
    func `A password file may end with a line end`(content: String) throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("password", content)
        #expect(try RegistrationsMigrateCommand.password(path).text == "word")
    }

    private func parse<Expected: Command>(_ line: String, as type: Expected.Type) throws -> Expected {
        try Program.martlet.command(("registrations " + line).split(separator: " ").map(String.init))
    }
}
