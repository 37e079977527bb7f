import APNSProtocol
import CommandKit
import DeadLetters
import EventLoop
import Glibc
import Registrations
import TestKit
import Testing

@testable import MartletCLI
@testable import RegistrationTools

/// The commands of `martlet registrations` on a store in memory.
@Suite struct RegistrationCommandTests {
    private static let csv = """
        user,app,device_token,registered_at
        ann,com.example.app,0a0a,1749000000000
        bob,com.example.app,0b0b,1749000000000
        eve,com.example.other,0c0c,1749000000000

        """

    @Test func `An import refuses apps that are not configured, and its export can be imported`() async throws {
        try await onEpollLoop { loop in
            let (task, store) = try await Self.task(on: loop)
            let folder = try TemporaryDirectory("registrations")
            let file = try folder.write("users.csv", Self.csv)
            #expect(try await run("import \(file)", as: RegistrationsImportCommand.self, task) == .failed)
            #expect(Self.users(of: store) == ["ann", "bob"])
            #expect(try folder.read("users.csv.rejects").contains(#""line":4,"class":"app""#))
            let copy = folder.file("copy.ndjson")
            #expect(
                try await run("export --output \(copy)", as: RegistrationsExportCommand.self, task) == .success)
            var status = stat()
            #expect(stat(copy, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let (other, otherStore) = try await Self.task(on: loop)
            #expect(try await run("import \(copy)", as: RegistrationsImportCommand.self, other) == .success)
            #expect(Self.users(of: otherStore) == ["ann", "bob"])
            // The export does not replace an existing file.
            #expect(try await run("export --output \(copy)", as: RegistrationsExportCommand.self, task) == .failed)
        }
    }

    @Test func `A dry run stores nothing`() async throws {
        try await onEpollLoop { loop in
            let (task, store) = try await Self.task(on: loop)
            let folder = try TemporaryDirectory("registrations")
            let file = try folder.write("users.csv", String(Self.csv.dropLast(40)))
            _ = try await run("import --dry-run \(file)", as: RegistrationsImportCommand.self, task)
            #expect(store.rows.isEmpty)
        }
    }

    @Test func `An export of one user has no other user`() async throws {
        try await onEpollLoop { loop in
            let (task, _) = try await Self.filledTask(on: loop)
            let folder = try TemporaryDirectory("registrations")
            let users = try folder.write("users", "bob\n")
            let copy = folder.file("copy.ndjson")
            let line = "export --user-file \(users) --output \(copy)"
            #expect(try await run(line, as: RegistrationsExportCommand.self, task) == .success)
            #expect(try folder.read("copy.ndjson").split(separator: "\n").count == 1)
            #expect(try folder.read("copy.ndjson").contains(#""user":"bob""#))
        }
    }

    @Test func `An erasure needs a confirmation, and erases only its user`() async throws {
        try await onEpollLoop { loop in
            let (task, store) = try await Self.filledTask(on: loop)
            let folder = try TemporaryDirectory("registrations")
            let users = try folder.write("users", "ann\n")
            // Without a terminal, the command cannot ask for a confirmation.
            let line = "erase --user-file \(users)"
            #expect(try await run(line, as: RegistrationsEraseCommand.self, task) == .usage)
            #expect(Self.users(of: store) == ["ann", "bob"])
            #expect(try await run(line + " --yes", as: RegistrationsEraseCommand.self, task) == .success)
            #expect(Self.users(of: store) == ["bob"])
        }
    }

    @Test func `A fault of the store has the exit code of its kind`() async throws {
        try await onEpollLoop { loop in
            let (task, store) = try await Self.filledTask(on: loop)
            store.fault = StoreFault(.refused, "the disk is full")
            #expect(try await run("count", as: RegistrationsCountCommand.self, task) == .failed)
            #expect(try await run("rekey", as: RegistrationsRekeyCommand.self, task) == .failed)
            #expect(task.access.report(StoreFault(.unreachable, "no connection")) == .unreachable)
            store.fault = nil
            #expect(try await run("count", as: RegistrationsCountCommand.self, task) == .success)
            #expect(try await run("rekey", as: RegistrationsRekeyCommand.self, task) == .success)
            #expect(
                try await run("unsuspend --app com.example.app", as: RegistrationsUnsuspendCommand.self, task)
                    == .success)
            #expect(try await run("show --user ann", as: RegistrationsShowCommand.self, task) == .success)
        }
    }

    @Test func `The environment of a line must be configured for its app`() throws {
        let access = Self.access { _ in fatalError("no store") }
        #expect(try access.environment(of: "com.example.app", nil) == .sandbox)
        #expect(throws: CommandViolation.self) { try access.environment(of: "com.example.app", .production) }
        #expect(throws: CommandViolation.self) { try access.environment(of: "com.example.other", nil) }
    }

    private static func access(_ writer: @escaping RegistrationsAccess.Writer) -> RegistrationsAccess {
        RegistrationsAccess(
            configPath: "c", devicesPerUserMax: 10, indexKey: "0a0b0c0d", location: "",
            environments: ["com.example.app": [.sandbox]], writer: writer)
    }

    private static func task(on loop: EpollLoop) async throws -> (RegistrationsTask, SimulatedStore) {
        let store = try SimulatedStore(
            on: loop, keys: RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "test"))
        // Only the store's loop uses the writer.
        nonisolated(unsafe) let writer = store.writer()
        // The test process keeps its own signal handling.
        let interruption = Interruption(on: loop)
        interruption.end()
        let task = try RegistrationsTask(access { _ in writer }, of: [], on: loop, interruption)
        try await task.store.open()
        return (task, store)
    }

    private static func filledTask(on loop: EpollLoop) async throws -> (RegistrationsTask, SimulatedStore) {
        let (task, store) = try await task(on: loop)
        let commands = ["ann": "0a0a", "bob": "0b0b"].map { user, token in
            RegistrationCommand.register(
                NewRegistration(
                    address: TokenAddress(
                        app: "com.example.app", environment: .sandbox, kind: .device, scope: nil, token: token),
                    user: user, registeredAt: 1_749_000_000_000))
        }
        _ = try await task.store.apply(commands)
        return (task, store)
    }

    private static func users(of store: SimulatedStore) -> [String] {
        store.rows.values.compactMap { $0.details?.identity?.user }.sorted()
    }

    private func run<Expected: RegistrationsCommand>(
        _ line: String, as type: Expected.Type, _ task: RegistrationsTask
    ) async throws -> ExitCode {
        let words = line.split(separator: " ").map(String.init)
        let command: Expected = try Program.martlet.command(["registrations", words[0], "--config", "c"] + words[1...])
        let users = try #require(command.users.users())
        return await command.execute(
            try RegistrationsTask(task.access, of: users, on: task.loop, task.interruption))
    }
}
