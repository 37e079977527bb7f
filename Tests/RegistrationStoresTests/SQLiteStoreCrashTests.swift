import EventLoop
import Glibc
import RegistrationStores
import Registrations
import TestKit
import Testing

@Suite struct SQLiteStoreCrashTests {
    private static let commandsPerBatch = 20
    private static let rules = RegistrationRules(now: RegistrationModel.start + 1000)

    /// Returns commands that register different tokens for a user. No other batch has this user or these tokens.
    private static func batch(_ number: Int) -> [RegistrationCommand] {
        (0..<commandsPerBatch).map { index in
            .register("user-\(number)", String(0x10_0000 + number * commandsPerBatch + index, radix: 16), at: 1)
        }
    }

    @Test func `A process that is killed amid batches has stored each completed batch, and none in part`() async throws
    {
        let fixture = try SQLiteFixture()
        let (path, log) = (fixture.path, fixture.directory.file("completed"))
        for round in 0..<3 {
            // The number of the first batch. The process is killed long before 1000 batches are complete.
            let first = round * 1000
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, log = log as String, first = first as Int] in
                try await Self.applyUntilKilled(path, log, first)
            }
            let completed = try Files.lines(of: log).compactMap { Int($0) }
            try #require(completed.count { $0 >= first } >= 10 + round)
            let rows = try await onEpollLoop { loop in
                let client = try fixture.open(.sample(), on: loop)
                try await client.start()
                let rows = try await client.rows()
                await client.close()
                return rows
            }
            let counts = Dictionary(grouping: rows) { $0.details?.identity?.user ?? "" }.mapValues(\.count)
            #expect(Set(counts.values) == [Self.commandsPerBatch])
            #expect(completed.allSatisfy { counts["user-\($0)"] != nil })
        }
    }

    /// Keeps four batches in flight until the process kills itself. Writes the numbers of completed batches to a file.
    private static func applyUntilKilled(_ path: String, _ log: String, _ first: Int) async throws {
        let descriptor = Glibc.open(log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        try await onEpollLoop { loop in
            let client = StoreClient(SQLiteStore(path: path, keys: try .sample()), on: loop)
            try await client.start()
            nonisolated(unsafe) let shared = client
            await withTaskGroup(of: Void.self) { group in
                for lane in 0..<4 {
                    group.addTask(executorPreference: loop) {
                        for number in stride(from: first + lane, to: first + 1000, by: 4) {
                            guard (try? await shared.apply(batch(number), rules: rules)) != nil else { return }
                            let line = "\(number)\n"
                            write(descriptor, line, line.utf8.count)
                            // Batches of the other lanes are in flight.
                            if number >= first + 40 { kill(getpid(), SIGKILL) }
                        }
                    }
                }
            }
        }
    }
}
