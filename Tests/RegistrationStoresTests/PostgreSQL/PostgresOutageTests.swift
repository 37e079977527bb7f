import Crypto
import EventLoop
import PostgreSQL
import Registrations
import TestKit
import Testing

@testable import RegistrationStores

/// Servers that refuse, fail, freeze and return.
@Suite(.serialized, .postgres) struct PostgresOutageTests {
    /// A password that a test replaces while the client runs.
    ///
    /// `@unchecked Sendable`: used on one loop only.
    private final class ChangingPassword: @unchecked Sendable {
        var text = "wrong secret"
    }

    @Test func `A wrong password is refused until it is corrected`() async throws {
        let fixture = try await PostgresFixture()
        let password = ChangingPassword()
        let source: PostgresPasswordSource = { PostgresPassword(password.text) }
        try await fixture.withClient(password: source) { recorded in
            let fault = try #require(try await recorded.fault(.refused))
            #expect(fault.errorClass == "28" && !fault.sentence.contains("secret"))
            #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)]) == fault)
            #expect(await recorded.fault(ofLookup: [.all(of: "ann")])?.code == .refused)
            password.text = PrivatePostgres.password
            try await recorded.waitUntilReady()
            #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)]) == nil)
        }
    }

    @Test(arguments: ["DROP TABLE martlet.registration", "ALTER TABLE martlet.registration DROP COLUMN kind"])
    func `A missing table or column is a fault of the schema`(sql: String) async throws {
        let fixture = try await PostgresFixture()
        try await fixture.sql(sql)
        try await fixture.withClient { recorded in
            let fault = try #require(try await recorded.fault(.schema))
            #expect(fault.errorClass == "42" && fault.sentence.hasSuffix("run: martlet registrations migrate"))
        }
    }

    @Test func `A missing right fails the statements that need it`() async throws {
        let fixture = try await PostgresFixture()
        try await fixture.sql("REVOKE SELECT ON martlet.registration FROM \"\(PostgresFixture.workerRole)\"")
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            let fault = await recorded.fault(ofLookup: [.all(of: "ann")])
            #expect(fault?.code == .schema && fault?.errorClass == "42")
            #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)]) == fault)
        }
    }

    @Test func `A table that disappears fails the statements that use it`() async throws {
        let fixture = try await PostgresFixture()
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)]) == nil)
            try await fixture.sql("ALTER TABLE martlet.event RENAME TO moved")
            let fault = await recorded.fault(of: [.register("bob", "0a", at: 2)])
            #expect(fault?.code == .schema && fault?.errorClass == "42")
            #expect(await recorded.fault(ofLookup: [.all(of: "ann")]) == nil)
            try await fixture.sql("ALTER TABLE martlet.moved RENAME TO event")
            #expect(await recorded.fault(of: [.register("bob", "0a", at: 2)]) == nil)
        }
    }

    @Test(arguments: [
        ("version = 0", "migrate"), ("version = 9, oldest_reader = 9", "newer version of Martlet"),
    ])
    func `A schema of another version is refused until it is replaced`(version: String, remedy: String) async throws {
        let fixture = try await PostgresFixture()
        try await fixture.sql("UPDATE martlet.version SET \(version)")
        try await fixture.withClient { recorded in
            let fault = try #require(try await recorded.fault(.schema))
            #expect(fault.sentence.contains(remedy))
            #expect(await recorded.fault(ofLookup: [.all(of: "ann")]) == fault)
            #expect(await recorded.fault(of: []) == fault)
            try await fixture.sql(
                "UPDATE martlet.version SET version = \(PostgresMigrations.version), oldest_reader = 1")
            try await recorded.waitUntilReady()
            #expect(recorded.reader.changes == [fault, nil])
        }
    }

    @Test func `A newer schema that permits this version is used`() async throws {
        let fixture = try await PostgresFixture()
        try await fixture.sql("UPDATE martlet.version SET version = 9")
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)]) == nil)
        }
    }

    @Test func `A lock of another session delays only the work that needs it`() async throws {
        let fixture = try await PostgresFixture()
        var limits = PostgresFixture.generousLimits
        limits.lockMillisecondsMax = PostgresConfiguration.Limits().lockMillisecondsMax
        try await fixture.withClient(limits: limits) { recorded in
            try await recorded.waitUntilReady()
            #expect(await recorded.fault(of: [.register("ann", "0a", at: 1), .register("bob", "0b", at: 1)]) == nil)
            let keys = try await recorded.client.lookUp([.all(of: "ann")])[0].map(\.key.token)
            let holder = Task {
                try await fixture.sql(
                    """
                    BEGIN; SELECT 1 FROM martlet.registration WHERE token_key = '\(keys[0])' FOR UPDATE;
                    SELECT pg_sleep(3600)
                    """)
            }
            try await fixture.server.waitUntilSleeping()
            let fault = await recorded.fault(of: [.register("ann", "0a", at: 2)])
            #expect(fault?.code == .unreachable && fault?.errorClass == "55")
            #expect(fault?.sentence.contains("pg_locks") == true)
            #expect(await recorded.fault(of: [.register("bob", "0b", at: 2)]) == nil)
            #expect(await recorded.fault(ofLookup: [.all(of: "ann")]) == nil)
            try await fixture.server.endSleepingSessions()
            await #expect(throws: ProcessError.self) { try await holder.value }
            #expect(await recorded.fault(of: [.register("ann", "0a", at: 2)]) == nil)
            // The writer kept its connection, so it reported no further change.
            #expect(recorded.writer.changes == [nil])
        }
    }

    @Test func `After a kill and a restart, the store has all that was completed`() async throws {
        try await PrivatePostgres.with { server in
            let fixture = try await PostgresFixture(server)
            try await fixture.withClient { recorded in
                try await recorded.waitUntilReady()
                #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)]) == nil)
                try await server.kill()
                let fault = try #require(try await recorded.fault(.unreachable))
                #expect(fault.sentence.contains("127.0.0.1"))
                #expect(await recorded.fault(of: [.register("ann", "0b", at: 1)])?.code == .unreachable)
                #expect(await recorded.fault(ofLookup: [.all(of: "ann")])?.code == .unreachable)
                try await server.start()
                try await recorded.waitUntilReady()
                #expect(try await recorded.client.lookUp([.all(of: "ann")])[0].map(\.token) == ["0a"])
                try await server.restart()
                _ = try await recorded.fault(.unreachable)
                try await recorded.waitUntilReady()
                #expect(await recorded.fault(of: [.register("ann", "0b", at: 1)]) == nil)
            }
        }
    }

    @Test func `A frozen server fails all work in time`() async throws {
        try await PrivatePostgres.with { server in
            let fixture = try await PostgresFixture(server)
            try await fixture.withClient(limits: PostgresConfiguration.Limits()) { recorded in
                try await recorded.waitUntilReady()
                await server.pause()
                let lookup = await recorded.fault(ofLookup: [.all(of: "ann")])
                #expect(lookup?.code == .unreachable && lookup?.errorClass == nil)
                #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)])?.code == .unreachable)
                await server.resume()
                try await recorded.waitUntilReady()
                #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)]) == nil)
                #expect(try await recorded.client.lookUp([.all(of: "ann")])[0].map(\.token) == ["0a"])
            }
        }
    }

    @Test func `A standby is refused, and used after its promotion`() async throws {
        try await PrivatePostgres.with { primary in
            let fixture = try await PostgresFixture(primary)
            let standby = try await PrivatePostgres(standbyOf: primary)
            try await standby.use { try await failOver(fixture, from: primary, to: $0) }
        }
    }

    private func failOver(
        _ fixture: PostgresFixture, from primary: PrivatePostgres, to standby: PrivatePostgres
    ) async throws {
        try await fixture.withClient(url: try fixture.url(port: standby.port)) { recorded in
            let fault = try #require(try await recorded.fault(.unreachable))
            #expect(fault.sentence.contains("promote the standby"))
        }
        let both = try PostgresURL(
            "postgresql://martlet%20worker@127.0.0.1:\(standby.port),127.0.0.1:\(primary.port)/\(fixture.database)")
        try await fixture.withClient(url: both) { recorded in
            try await recorded.waitUntilReady()
            #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)]) == nil)
            try await primary.kill()
            try await standby.promote()
            _ = try await recorded.fault(.unreachable)
            try await recorded.waitUntilReady()
            #expect(await recorded.fault(of: [.register("ann", "0b", at: 1)]) == nil)
        }
    }
}
