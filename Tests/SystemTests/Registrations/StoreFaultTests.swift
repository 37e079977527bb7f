import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension StoreSystemTests {
    /// Faults of the store that an operator corrects.
    @Suite struct StoreFaults {
        private static let users = StoreUser.make(10, deviceCountMax: 3)

        // MARK: Lookups

        @Test(arguments: StoreIncident.all)
        func `A fault of PostgreSQL holds requests to users until it is corrected`(_ incident: StoreIncident)
            async throws
        {
            try await PrivatePostgres.with { server in
                try await Self.withWorker("incident", on: server) { harness in
                    try await Self.hold(
                        in: harness, code: incident.code, remedy: incident.remedy, { try await incident.begin(server) },
                        { try await incident.end(server) })
                }
            }
        }

        @Test(.enabled("needs the right to mount", SmallDisk.isPermitted))
        func `A full disk of the WAL holds requests to users until it has space`() async throws {
            let disk = try await SmallDisk(kilobytes: 48_000)
            let wal = StoreIncident.fullDisk(of: disk)
            let server = try await PrivatePostgres(
                settings: ["restart_after_crash=off", "max_wal_size=8MB", "min_wal_size=2MB", "wal_recycle=off"],
                walFolder: disk.file("wal"))
            try await server.use { server in
                try await Self.withWorker("full-wal", on: server) { harness in
                    try await Self.hold(
                        in: harness, code: wal.code, remedy: wal.remedy, { try await wal.begin(server) },
                        { try await wal.end(server) })
                }
            }
        }

        // SQLite caches the pages that it has read, so a restored file needs another worker.
        @Test func `A damaged SQLite file holds requests to users until it is restored`() async throws {
            let folder = try TemporaryDirectory("store")
            let path = folder.file("registrations.db")
            try await Self.withWorker("damaged", onFile: path) { harness in
                let bytes = try Files.bytes(of: path)
                // The first page has the schema, which the worker has read.
                let page = 4096
                try Self.overwrite(path, from: page, [UInt8](repeating: 0xa5, count: bytes.count - page))
                let held = try await Self.expectHeld(
                    in: harness, code: "store-schema", remedy: "restore the file from a backup")
                _ = try await harness.worker.stop()
                for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
                try Self.overwrite(path, from: 0, bytes)
                let worker = try await harness.fixture.worker()
                try await harness.fixture.fanoutMessages(about: held)
                _ = try await worker.stop()
            }
        }

        @Test func `A deleted SQLite file holds requests to users until it is back`() async throws {
            let folder = try TemporaryDirectory("store")
            let path = folder.file("registrations.db")
            try await Self.withWorker("deleted", onFile: path) { harness in
                try await Self.hold(
                    in: harness, code: "store-refused", remedy: "move the file back",
                    { try #require(rename(path, folder.file("away")) == 0) },
                    { try #require(rename(folder.file("away"), path) == 0) })
            }
        }

        // MARK: Changes

        @Test(.enabled("needs the right to mount", SmallDisk.isPermitted))
        func `A full disk of PostgreSQL's table delays commands, and requests to users continue`() async throws {
            let disk = try await SmallDisk(kilobytes: 4000)
            try PostgresPrograms.own(disk.path)
            try await PrivatePostgres.with { server in
                try await Self.withWorker("full-table", on: server) { harness in
                    try await server.sql("CREATE TABLESPACE small LOCATION '\(disk.path)'")
                    try await server.sql("ALTER TABLE martlet.registration SET TABLESPACE small")
                    try await Self.delayCommands(
                        in: harness, remedy: "free disk space at the server", { try disk.fill() },
                        { try disk.free() })
                }
            }
        }

        @Test(.enabled("needs the right to mount", SmallDisk.isPermitted))
        func `A full disk of an SQLite file delays commands, and requests to users continue`() async throws {
            let disk = try await SmallDisk(kilobytes: 4000)
            try await Self.withWorker("full-file", onFile: disk.file("registrations.db")) { harness in
                try await Self.delayCommands(
                    in: harness, remedy: "free or add space", { try disk.fill() }, { try disk.free() })
            }
        }
    }
}

extension StoreSystemTests.StoreFaults {
    private static func withWorker(
        _ prefix: String, on server: PrivatePostgres, _ body: (OperatorHarness) async throws -> Void
    ) async throws {
        var options = SystemFixture.Options(delays: ["1s"])
        try options.usePostgres(server)
        try await OperatorHarness.with(
            prefix, on: PrivateBroker.shared, options,
            beforeWorker: { fixture in
                try await fixture.migrateStore()
                try await fixture.importUsers(users)
            }, body)
    }

    private static func withWorker(
        _ prefix: String, onFile path: String, _ body: (OperatorHarness) async throws -> Void
    ) async throws {
        var options = SystemFixture.Options(delays: ["1s"])
        try options.useSQLite(path)
        try await OperatorHarness.with(
            prefix, on: PrivateBroker.shared, options, beforeWorker: { try await $0.importUsers(users) }, body)
    }

    /// Begins a fault, checks that it holds requests to users, ends the fault, and checks that the worker continues.
    private static func hold(
        in harness: OperatorHarness, code: String, remedy: String, _ begin: () async throws -> Void,
        _ end: () async throws -> Void
    ) async throws {
        try await begin()
        let held = try await expectHeld(in: harness, code: code, remedy: remedy)
        try await end()
        try await harness.logs("breaker.closed", with: code)
        try await harness.fixture.fanoutMessages(about: held)
        try await expectRecovery(of: harness, held)
    }

    /// Checks that requests to users are held, and that requests to device tokens continue.
    ///
    /// - Parameters:
    ///   - code: The code of the breaker.
    ///   - remedy: A text in the log line of the breaker, in the status, in `/readyz`, and in the output of `doctor`.
    /// - Returns: The held requests.
    private static func expectHeld(
        in harness: OperatorHarness, code: String, remedy: String
    ) async throws -> [UserRequest] {
        let fixture = harness.fixture
        let held = users.map { UserRequest(1000 + $0.number, to: $0) }
        try await fixture.testClient.publish(held.map { $0.message(to: fixture.prefix) })
        let line = try await harness.logs("breaker.opened", with: code)
        #expect(line["error"]?.string?.contains(remedy) == true, "\(line["error"]?.string ?? "-")")
        try await expectReports(of: [code, remedy], by: harness)
        let doctor = try await harness.run(["doctor", "--config", fixture.configuration])
        let text = doctor.output.joined(separator: "\n")
        #expect(doctor.code == 1 && text.contains(remedy), "\(text)")
        try await harness.publish(3)
        try await fixture.results(of: harness.samples).expectAcceptedOnFirstAttempt(harness.samples)
        return held
    }

    /// Checks that a fault delays commands but no request, and that the worker stores them once the fault is corrected.
    ///
    /// - Parameter remedy: A text in the log line, in the status, and in `/readyz`.
    private static func delayCommands(
        in harness: OperatorHarness, remedy: String, _ begin: () throws -> Void, _ end: () throws -> Void
    ) async throws {
        let fixture = harness.fixture
        let new = (100..<1100).map { StoreUser(number: $0, deviceCount: 1) }
        try begin()
        try await fixture.testClient.publish(new.flatMap { $0.commands(to: fixture.prefix) })
        let line = try await harness.logs("registration.store_lost")
        #expect(line["error"]?.string?.contains(remedy) == true, "\(line["error"]?.string ?? "-")")
        try await expectReports(of: ["cannot store registrations (refused)", remedy], by: harness)
        var requests = users.map { UserRequest(1000 + $0.number, to: $0) }
        try await fixture.testClient.publish(requests.map { $0.message(to: fixture.prefix) })
        try await fixture.fanoutMessages(about: requests)

        try end()
        try await harness.logs("registration.store_back")
        try await poll(until: "all commands are stored") { try await storedCount(of: harness) == new.count }
        let later = new.map { UserRequest(2000 + $0.number, to: $0) }
        try await fixture.testClient.publish(later.map { $0.message(to: fixture.prefix) })
        requests += later
        try await fixture.fanoutMessages(about: requests)
        try await expectRecovery(of: harness, requests)
    }

    /// Returns the number of commands with the outcome `stored`.
    private static func storedCount(of harness: OperatorHarness) async throws -> Int {
        try await harness.request("/metrics").1.split(separator: "\n").reduce(0) { count, line in
            guard line.hasPrefix("martlet_registration_commands_total{"), line.contains(#"outcome="stored""#) else {
                return count
            }
            return count + (line.split(separator: " ").last.flatMap { Int($0) } ?? 0)
        }
    }

    /// Checks that `martlet status` and `/readyz` report all words, and that the worker stays ready.
    private static func expectReports(of words: [String], by harness: OperatorHarness) async throws {
        let status = try await harness.run(["status", "--socket", harness.socket])
        let text = status.output.joined(separator: "\n")
        let ready = try await harness.request("/readyz")
        #expect(status.code == 0 && ready.0 == 200)
        for word in words {
            #expect(text.contains(word), "\(word) in \(text)")
            #expect(ready.1.contains(word), "\(word) in \(ready.1)")
        }
    }

    private static func expectRecovery(of harness: OperatorHarness, _ requests: [UserRequest]) async throws {
        try await poll(until: "the worker reports no fault") { try await harness.request("/readyz") == (200, "ok\n") }
        #expect(harness.worker.isRunning)
        let messages = try await harness.fixture.allFanoutMessages()
        messages.check(requests, try harness.fixture.recorded())
    }

    private static func overwrite(_ path: String, from offset: Int, _ bytes: [UInt8]) throws {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count)
    }
}
