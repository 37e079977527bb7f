import APNSProtocol
import Crypto
import EventLoop
import Registrations
import TestKit
import Testing

@testable import RegistrationStores

/// The content of the tables, and the statements that read it.
@Suite(.serialized, .postgres) struct PostgresContentTests {
    @Test func `Neither a dump nor the log of changes contains a user, token, installation or scope`() async throws {
        let fixture = try await PostgresFixture()
        let secrets = ["plaintext-user-ann", "plaintext-user-bob", "plaintext-phone", "plaintext-scope"]
        let token = "0123456789abcdef0123456789abcdef"
        let address = TokenAddress(
            app: RegistrationModel.app, environment: .production, kind: .controls, scope: secrets[3], token: token)
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            let outcomes = try await recorded.client.apply(
                [
                    .register(secrets[0], address, at: 1, device: secrets[2]),
                    .register(secrets[1], address, at: 2, device: secrets[2]), .erase(secrets[1], at: 1),
                ], rules: .test)
            #expect(outcomes.map(\.events.count) == [0, 1, 0])
        }
        let dump = try await fixture.server.dump(database: fixture.database)
        #expect(dump.contains { $0.contains("COPY martlet.registration") })
        #expect(dump.contains { $0.contains(RegistrationModel.app) })
        for secret in secrets + [token] { #expect(!dump.contains { $0.contains(secret) }) }
        let patterns = (secrets + [token]).map { "convert_to('\($0)', 'UTF8')" } + ["decode('\(token)', 'hex')"]
        func findings(_ pattern: String) async throws -> [String] {
            try await fixture.sql(
                """
                SELECT coalesce(sum(position(\(pattern) IN pg_read_binary_file('pg_wal/' || name))), 0) > 0
                FROM pg_ls_waldir()
                """)
        }
        #expect(try await findings("convert_to('\(RegistrationModel.app)', 'UTF8')") == ["t"])
        for pattern in patterns { #expect(try await findings(pattern) == ["f"]) }
    }

    @Test func `Only an app that gets a row gets a number`() async throws {
        let fixture = try await PostgresFixture()
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            // The last number that an app can have. A command that numbered another app would fail.
            try await fixture.sql("INSERT INTO martlet.app VALUES (32767, 'com.example.last')")
            let address = TokenAddress(
                app: "com.example.unknown", environment: .production, kind: .device, scope: nil, token: "0a")
            let outcomes = try await recorded.client.apply(
                [
                    .erase("ann", app: address.app, at: 1), .unregister(.user(app: address.app, user: "ann"), at: 1),
                    .unregister(.device(app: address.app, user: "ann", deviceID: "phone"), at: 1),
                    .suspect(address, APNSRefusal(status: 400, reason: "BadDeviceToken", timestamp: 1)),
                ], rules: .test)
            #expect(outcomes.map(\.reply) == [.notFound, .unchanged, .notFound, .notFound])
            #expect(try await fixture.sql("SELECT count(*) FROM martlet.app") == ["1"])
        }
    }

    @Test func `Pages of a rare app search a table in bounded statements`() async throws {
        let fixture = try await PostgresFixture()
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            #expect(await recorded.fault(of: [.register("ann", "0a", at: 1), .register("bob", "0b", at: 1)]) == nil)
            let other = TokenAddress(
                app: RegistrationModel.otherApp, environment: .production, kind: .device, scope: nil, token: "0a")
            #expect(await recorded.fault(of: [.register("ann", other, at: 1)]) == nil)
            let count = 2 * PostgresPage.scanRowsMax + 10
            try await fixture.sql(
                """
                INSERT INTO martlet.registration
                (token_key, slot, registered_at, ended_at, app, environment, kind)
                SELECT gen_random_uuid(), '\(Registration.Key.unshared)', 1, 1, 1, 0, 0
                FROM generate_series(1, \(count))
                """)
            for rowsMax in [1, 2, 1000] {
                let rows = try await recorded.client.rows(.app(RegistrationModel.otherApp), rowsMax: rowsMax)
                #expect(rows.compactMap { $0.details?.identity?.token } == ["0a"])
            }
            #expect(try await recorded.client.rows(.app(RegistrationModel.app)).count == count + 2)
            #expect(try await recorded.client.edit(.rekey) == (0, 0))
        }
    }

    @Test func `A row of an app without a name is a fault of the schema`() async throws {
        let fixture = try await PostgresFixture()
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)]) == nil)
            try await fixture.sql("UPDATE martlet.registration SET app = 9")
            let fault = await recorded.fault(of: [.register("ann", "0a", at: 2)])
            #expect(fault?.code == .schema && fault?.sentence.contains("martlet.app") == true)
            #expect(await recorded.fault(of: [.register("bob", "0b", at: 2)]) == nil)
        }
    }

    /// PostgreSQL plans the statements while the tables are empty, and keeps the plans while the tables grow.
    @Test func `Lookups, batches and maintenance use indexes from the first row on`() async throws {
        let fixture = try await PostgresFixture()
        func scans(_ column: String) async throws -> Int {
            let sum = try await fixture.sql(
                "SELECT sum(\(column)) FROM pg_stat_user_tables WHERE relname IN ('registration', 'ended', 'event')")
            return try #require(sum.first.flatMap { Int($0) })
        }
        let (tableScans, indexScans) = (try await scans("seq_scan"), try await scans("idx_scan"))
        let count = 100
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            for number in 1000..<1000 + count {
                let command = RegistrationCommand.register("ann", "\(number)", at: 1, device: "phone \(number)")
                #expect(await recorded.fault(of: [command]) == nil)
                _ = try await recorded.client.lookUp([.all(of: "ann")])
                _ = try await recorded.client.maintain(rules: .test)
            }
            let outcomes = try await recorded.client.apply([.erase("ann", at: 2)], rules: .test)
            try await recorded.client.delete(outcomes[0].events.map(\.id))
        }
        // A session reports its statistics when it ends.
        try await poll(until: "the statistics are complete") { try await scans("idx_scan") >= indexScans + 5 * count }
        #expect(try await scans("seq_scan") == tableScans)
    }
}
