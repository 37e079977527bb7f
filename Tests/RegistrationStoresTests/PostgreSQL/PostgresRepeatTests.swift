import Crypto
import EventLoop
import Registrations
import TestKit
import Testing

@testable import RegistrationStores

/// Transactions that the store or its caller repeats.
@Suite(.serialized, .postgres) struct PostgresRepeatTests {
    /// The commit waits for a standby that does not exist. The commit is durable, but has no answer.
    @Test func `A commit whose answer is lost is repeated without a change`() async throws {
        try await PrivatePostgres.with { server in
            let fixture = try await PostgresFixture(server)
            try await fixture.withClient { recorded in
                try await recorded.waitUntilReady()
                #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)]) == nil)
                let commands: [RegistrationCommand] = [.register("bob", "0a", at: 2), .erase("cid", at: 2)]
                try await loseAnswer(to: commands, recorded, fixture)
                let rows = try await recorded.client.rows()
                #expect(rows.compactMap { $0.details?.identity?.user } == ["bob"])
                let outcomes = try await recorded.client.apply(commands, rules: .test)
                #expect(outcomes.map(\.reply) == [.unchanged, .unchanged])
                #expect(outcomes.flatMap(\.events) == [])
                #expect(try await recorded.client.rows() == rows)
                // Maintenance claims the event of the lost outcome.
                let later = RegistrationRules(now: RegistrationRules.test.now + Maintenance.eventAgeMillisecondsMin)
                let events = try await recorded.client.maintain(rules: later)
                #expect(events.map(\.mayBeDuplicate) == [true])
            }
        }
    }

    private func loseAnswer(
        to commands: [RegistrationCommand], _ recorded: RecordedClient, _ fixture: PostgresFixture
    ) async throws {
        try await fixture.sql("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
        try await fixture.sql("SELECT pg_reload_conf()")
        try await poll(until: "the setting is in force") {
            try await fixture.sql("SHOW synchronous_standby_names") == ["missing"]
        }
        nonisolated(unsafe) let shared = recorded
        let fault = Task(executorPreference: recorded.client.loop) { await shared.fault(of: commands) }
        try await fixture.server.waitUntilWaiting(for: "SyncRep")
        try await fixture.server.kill()
        #expect(await fault.value?.code == .unreachable)
        try await fixture.server.start()
        try await fixture.sql("ALTER SYSTEM RESET synchronous_standby_names")
        try await fixture.sql("SELECT pg_reload_conf()")
        try await recorded.waitUntilReady()
    }

    @Test func `Batches that are repeated until they are completed survive kills of the server`() async throws {
        try await PrivatePostgres.with { server in
            let fixture = try await PostgresFixture(server)
            try await fixture.withClient { recorded in
                try await recorded.waitUntilReady()
                var model = try RegistrationModel(.sample())
                var mix = CommandMix(seed: 51)
                model.now = RegistrationModel.start + 10 * CommandMix.day
                for _ in 0..<3 {
                    let kill = Task {
                        try await server.kill()
                        try await server.start()
                    }
                    var hasFailed = false
                    while !hasFailed {
                        let commands = mix.batch(countMax: 20, before: 10 * CommandMix.day)
                        model.apply(try commands.map { try model.keyed($0) })
                        while (try? await recorded.client.apply(commands, rules: model.rules)) == nil {
                            hasFailed = true
                            try await recorded.client.loop.wait { recorded.writer.isReady }
                        }
                    }
                    try await kill.value
                }
                #expect(try await recorded.client.rows() == model.rows.values.sorted { $0.key < $1.key })
            }
        }
    }

    /// Another session, which takes no advisory locks, inserts the same row before the batch does.
    @Test func `A batch that another session precedes is repeated`() async throws {
        let fixture = try await PostgresFixture()
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            #expect(await recorded.fault(of: [.register("ann", "0b", at: 1)]) == nil)
            let token = try BlindIndex(.sample()).tokenKey(.device("0a"))
            let holder = Task { try await fixture.sql("SELECT pg_advisory_lock(9); SELECT pg_sleep(3600)") }
            try await fixture.server.waitUntilSleeping()
            async let other = fixture.sql(
                """
                BEGIN; INSERT INTO martlet.registration
                (token_key, slot, registered_at, ended_at, app, environment, kind)
                VALUES ('\(token)', '\(Registration.Key.unshared)', 0, \(RegistrationModel.start + 5), 1, 0, 0);
                SELECT pg_advisory_lock(9); COMMIT
                """)
            try await fixture.server.waitUntilWaiting(for: "advisory")
            nonisolated(unsafe) let client = recorded.client
            let batch = Task(executorPreference: client.loop) {
                try await client.apply([.register("ann", "0a", at: 5)], rules: .test)
            }
            try await fixture.server.waitUntilWaiting(for: "transactionid")
            try await fixture.server.endSleepingSessions()
            await #expect(throws: ProcessError.self) { try await holder.value }
            #expect(try await batch.value.map(\.reply) == [.ended])
            _ = try await other
        }
    }

    /// The test changes the type of a column that a statement returns, as a migration may do.
    @Test func `Statements with an outdated plan are prepared again`() async throws {
        let fixture = try await PostgresFixture()
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            #expect(await recorded.fault(of: [.register("ann", "0a", at: 1)]) == nil)
            for type in ["varchar(300)", "text"] {
                try await fixture.sql("ALTER TABLE martlet.app ALTER COLUMN bundle_id TYPE \(type)")
                #expect(await recorded.fault(of: [.register("ann", "0a", at: 2)]) == nil)
            }
            #expect(recorded.writer.changes == [nil])
        }
    }
}
