import Glibc
import JSON
import TestKit
import Testing

extension StoreSystemTests {
    /// Imports that are killed and resumed.
    @Suite struct KilledImports {
        private static let lines = LongForm.pick(1_000_000, short: 30_000)
        private static let badLines = 100
        private static let kills = 10
        private static let minutesMax = LongForm.pick(30, short: 3)

        @Test func `An import into SQLite that is killed ten times stores the rows of a whole import`() async throws {
            let folder = try TemporaryDirectory("import")
            var options: [SystemFixture.Options] = []
            for name in ["whole", "killed"] {
                options.append(SystemFixture.Options())
                try options[options.count - 1].useSQLite(folder.file("\(name).db"))
            }
            try await Self.run(whole: options[0], killed: options[1])
        }

        @Test func `An import into PostgreSQL that is killed ten times stores the rows of a whole import`() async throws
        {
            try await PrivatePostgres.with { whole in
                try await PrivatePostgres.with { killed in
                    var options = [SystemFixture.Options(), SystemFixture.Options()]
                    try options[0].usePostgres(whole)
                    try options[1].usePostgres(killed)
                    try await Self.run(whole: options[0], killed: options[1])
                }
            }
        }

        private static func run(whole: SystemFixture.Options, killed: SystemFixture.Options) async throws {
            let whole = try await SystemFixture("whole-import", whole)
            let killed = try await SystemFixture("killed-import", killed)
            for fixture in [whole, killed] {
                try await fixture.migrateStore()
                try writeLines(fixture.directory.file("users.csv"))
            }
            let begin = ContinuousClock.now
            let end = try await importCommand(whole).exit(within: .seconds(minutesMax * 60))
            // The exit code reports the rejects.
            #expect(end.status == .exited(1))
            print("import of \(lines) lines: \(begin.duration(to: .now))")
            var killCount = 0
            for _ in 1...kills where try await killImport(killed) { killCount += 1 }
            #expect(killCount > 0)
            let last = try await importCommand(killed, resumes: true)
            #expect(try await last.exit(within: .seconds(minutesMax * 60)).status == .exited(1))
            #expect(await last.output.allLines().last?.contains("\(badLines) rejected") == true)
            try await expectSameRows(whole, killed)
            let rejects = try Files.bytes(of: killed.directory.file("users.csv.rejects"))
            #expect(try rejects == Files.bytes(of: whole.directory.file("users.csv.rejects")))
            try expectRejects(of: killed)
            for fixture in [whole, killed] { try await fixture.end() }
        }

        /// Starts or resumes an import, and kills it after it has completed some lines. An import that completes the last
        /// line first has no checkpoint, so the next import begins with the first line.
        ///
        /// - Returns: Whether the import was killed before its end.
        private static func killImport(_ fixture: SystemFixture) async throws -> Bool {
            let line = checkpointLine(of: fixture)
            let command = try await importCommand(fixture, resumes: line > 0)
            try await poll(until: "a new checkpoint", within: .seconds(minutesMax * 60), every: .milliseconds(2)) {
                checkpointLine(of: fixture) > line + lines / (kills + 1) || !command.isRunning
            }
            command.send(signal: SIGKILL)
            return try await command.exit().status == .signalled(SIGKILL)
        }

        private static func importCommand(_ fixture: SystemFixture, resumes: Bool = false) async throws -> ChildProcess
        {
            try await ChildProcess(
                [Products.executable("martlet"), "registrations", "import", "--config", fixture.configuration]
                    + (resumes ? ["--resume"] : []) + [fixture.directory.file("users.csv")])
        }

        /// Returns the number of lines that an import has completed; 0 without a checkpoint.
        private static func checkpointLine(of fixture: SystemFixture) -> Int {
            let text = try? Files.bytes(of: fixture.directory.file("users.csv.checkpoint"))
            return (try? JSONDocument(text ?? []))?.root["line"]?.int ?? 0
        }

        /// Returns whether a line of the file is faulty. Line 1 is the header.
        private static func isBad(_ line: Int) -> Bool { line % (lines / badLines) == 0 }

        private static func writeLines(_ path: String) throws {
            let file = try #require(fopen(path, "w"))
            defer { fclose(file) }
            fputs("user,app,device_token,registered_at\n", file)
            for line in 2...lines + 1 {
                let digits = String(line, radix: 16)
                let token = isBad(line) ? "faulty" : String(repeating: "0", count: 64 - digits.utf8.count) + digits
                fputs("user-\(line / 2),\(StoreUser.app),\(token),\(1_750_000_000_000 + line)\n", file)
            }
        }

        /// Compares the exports of both stores. Sorts them first, because each store orders its export by its own keys.
        private static func expectSameRows(_ whole: SystemFixture, _ killed: SystemFixture) async throws {
            for fixture in [whole, killed] {
                let copy = fixture.directory.file("copy.ndjson")
                try await run("registrations", "export", "--config", fixture.configuration, "--output", copy)
                let sorted = try await ChildProcess.run(
                    ["env", "LC_ALL=C", "sort", "-o", copy, copy], within: .seconds(minutesMax * 60))
                #expect(sorted.exit.status == .exited(0))
            }
            let copies = [whole, killed].map { $0.directory.file("copy.ndjson") }
            #expect(try await ChildProcess.run(["cmp"] + copies).exit.status == .exited(0))
            let count = try await ChildProcess.run(["wc", "-l", copies[0]]).output.first
            #expect(count?.hasPrefix("\(lines - badLines) ") == true, "\(count ?? "-")")
        }

        private static func run(_ arguments: String...) async throws {
            let result = try await ChildProcess.run(
                [Products.executable("martlet")] + arguments, within: .seconds(minutesMax * 60))
            try #require(result.exit.status == .exited(0), "\(result.errors)")
        }

        private static func expectRejects(of fixture: SystemFixture) throws {
            let rejects = try Files.lines(of: fixture.directory.file("users.csv.rejects")).map { try JSONDocument($0) }
            #expect(rejects.map { $0.root["line"]?.int } == (2...lines + 1).filter(isBad))
            #expect(rejects.allSatisfy { $0.root["path"]?.string == "/device_token" })
            #expect(rejects.allSatisfy { $0.root["message"]?.string?.isEmpty == false })
        }
    }
}
