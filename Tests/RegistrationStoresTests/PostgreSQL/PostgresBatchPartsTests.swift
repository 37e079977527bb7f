import EventLoop
import Registrations
import TestKit
import Testing

@testable import RegistrationStores

/// Batches of imports, whose transactions read and apply commands in parts.
@Suite(.serialized, .postgres) struct PostgresBatchPartsTests {
    /// Calls `body` with the comparison of a store whose parts have at most `count` commands.
    private func withParts(
        of count: Int, _ body: @Sendable @escaping (inout StoreComparison) async throws -> Void
    ) async throws {
        let fixture = try await PostgresFixture()
        try await onEpollLoop { loop in
            var comparison = try StoreComparison(fixture.open(.sample(), on: loop), .sample())
            let writer = try #require(comparison.client.writer as? PostgresWriter)
            writer.context.partCommandsMax = count
            try await comparison.client.start()
            try await body(&comparison)
            await comparison.client.close()
        }
    }

    @Test(arguments: [1, 7, 64])
    func `Random batches in parts have the replies, events and rows of the model`(count: Int) async throws {
        try await withParts(of: count) { comparison in
            var mix = CommandMix(seed: UInt64(70 + count))
            comparison.model.devicesPerUserMax = 3
            for number in 1...60 {
                let age = Int64(number) * CommandMix.day
                comparison.model.now = RegistrationModel.start + 10 * CommandMix.day + age
                // Batches above the limit of the queue lock the whole store.
                let countMax = number.isMultiple(of: 10) ? 2 * CommandBatch.commandsMax : 5 * count
                try await comparison.apply(mix.batch(countMax: countMax, before: 10 * CommandMix.day + age))
                guard number.isMultiple(of: 5) else { continue }
                try await comparison.expectEqualRows()
                comparison.model.now += Maintenance.eventAgeMillisecondsMin
                try await comparison.maintain()
                try await comparison.deleteEvents()
            }
            try await comparison.expectEqualRows()
            #expect(!comparison.model.rows.isEmpty && !comparison.model.marks.isEmpty)
        }
    }

    @Test func `Ends of an import that are restored in parts refuse and end registrations as in the model`()
        async throws
    {
        try await withParts(of: 5) { comparison in
            var (mix, source) = (CommandMix(seed: 80), try RegistrationModel(.sample()))
            source.now = RegistrationModel.start + 10 * CommandMix.day
            for _ in 0..<20 {
                source.apply(try mix.batch(countMax: 20, before: 10 * CommandMix.day).map { try source.keyed($0) })
            }
            comparison.model.now = source.now
            try await comparison.apply(mix.batch(countMax: 40, before: 10 * CommandMix.day))
            let tombstones = source.rows.values.filter { $0.details == nil }.sorted { $0.key < $1.key }
            let ends =
                tombstones.map { StoredEnd.tombstone($0) }
                + source.marks.values.sorted { $0.key < $1.key }.map { StoredEnd.mark($0) }
            #expect(!tombstones.isEmpty && tombstones.count < ends.count)
            try await comparison.restore(ends)
            try await comparison.apply(mix.batch(countMax: 40, before: 10 * CommandMix.day))
            try await comparison.expectEqualRows()
            #expect(try await comparison.client.marks() == comparison.model.marks.values.sorted { $0.key < $1.key })
        }
    }

    @Test func `A batch in parts that fails changes nothing`() async throws {
        let fixture = try await PostgresFixture()
        try await fixture.withClient { recorded in
            try #require(recorded.client.writer as? PostgresWriter).context.partCommandsMax = 100
            try await recorded.waitUntilReady()
            let commands = (0..<1000).map { number in
                RegistrationCommand.register("user \(number)", "\(100_000 + number)", at: 1)
            }
            // The row of a command in the last part.
            try await fixture.sql(
                """
                CREATE FUNCTION martlet.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF (SELECT count(*) FROM martlet.registration) >= 950 THEN RAISE SQLSTATE '22000'; END IF;
                  RETURN NULL; END $$;
                CREATE TRIGGER refuse AFTER INSERT ON martlet.registration
                  FOR EACH STATEMENT EXECUTE FUNCTION martlet.refuse()
                """)
            #expect(await recorded.fault(of: commands)?.code == .data)
            #expect(try await recorded.client.rows() == [])
            try await fixture.sql("DROP TRIGGER refuse ON martlet.registration")
            #expect(await recorded.fault(of: commands) == nil)
            #expect(try await recorded.client.rows().count == commands.count)
        }
    }
}
