import EventLoop
import RegistrationTools
import Registrations
import TestKit
import Testing

/// The same commands in three stores: in memory, in SQLite and in PostgreSQL.
@Suite(.serialized, .postgres) struct StoreAgreementTests {
    private static let commandCount = LongForm.pick(100_000, short: 2_000)
    private static let setCount = LongForm.pick(10_000, short: 100)
    private static let commandsPerSet = 8

    /// Calls `body` with a client of each store. The stores have the same keys.
    private func withStores(_ body: @Sendable @escaping ([StoreClient]) async throws -> Void) async throws {
        let (postgres, sqlite) = (try await PostgresFixture(), try SQLiteFixture())
        try await onEpollLoop { loop in
            let memory = try SimulatedStore(on: loop, keys: .sample())
            let clients = [
                StoreClient(reader: memory.reader(), writer: memory.writer(), on: loop),
                try sqlite.open(.sample(), on: loop), try postgres.open(.sample(), on: loop),
            ]
            for client in clients { try await client.start() }
            try await body(clients)
            for client in clients { await client.close() }
        }
    }

    /// Expects that `value` returns the same for each store. Returns the value.
    @discardableResult
    private func expectEqual<Value: Equatable>(
        _ clients: [StoreClient], _ value: (StoreClient) async throws -> Value
    ) async throws -> Value {
        let first = try await value(clients[0])
        for client in clients.dropFirst() {
            // The comparison is outside of the expectation, whose failure would otherwise show all rows.
            let isEqual = try await value(client) == first
            #expect(isEqual)
        }
        return first
    }

    /// Returns the registrations, without ends, as `martlet registrations export` writes them.
    private func export(_ client: StoreClient) async throws -> [[UInt8]] {
        try await client.rows().compactMap { $0.command?.body(id: nil) }
    }

    @Test func `Random commands give equal rows, exports, replies and events`() async throws {
        try await withStores { clients in
            var mix = CommandMix(seed: 52)
            var (commandCount, batchCount) = (0, 0)
            var time = 10 * CommandMix.day
            while commandCount < Self.commandCount {
                let commands = mix.batch(
                    countMax: [1, 20, CommandBatch.commandsMax - 1][batchCount % 3], before: time)
                let rules = RegistrationRules(now: RegistrationModel.start + time, devicesPerUserMax: 3)
                try await expectEqual(clients) { client in
                    try await client.apply(commands, rules: rules).map(Effect.init)
                }
                commandCount += commands.count
                batchCount += 1
                time += CommandMix.day / 4
                guard batchCount.isMultiple(of: 50) else { continue }
                for client in clients { _ = try await client.maintain(rules: rules) }
                try await expectEqual(clients) { try await $0.rows() }
            }
            try await expectEqual(clients) { try await $0.rows() }
            let exported = try await expectEqual(clients, export)
            #expect(!exported.isEmpty)
            // The second time, all events are old enough to be claimed. None was deleted.
            let times = [2, 1].map { RegistrationModel.start + CommandMix.farFuture - $0 * CommandMix.day }
            let events = try await expectEqual(clients) { client in
                _ = try await client.maintain(rules: RegistrationRules(now: times[0]))
                return try await client.maintain(rules: RegistrationRules(now: times[1]))
                    .map(EventContent.init).sorted()
            }
            #expect(events.count > commandCount / 50)
        }
    }

    /// The parts of an outcome that stores must agree about.
    private struct Effect: Equatable {
        let reply: RegistrationReply
        let events: [EventContent]

        init(_ outcome: CommandOutcome) {
            (reply, events) = (outcome.reply, outcome.events.map(EventContent.init))
        }
    }

    @Test func `Each order of the commands ends in equal rows and exports`() async throws {
        try await withStores { clients in
            var random = SeededRandom(seed: 53)
            var commands: [RegistrationCommand] = []
            while commands.count < Self.setCount * Self.commandsPerSet {
                let set = CommandSet(&random, count: Self.commandsPerSet, number: commands.count)
                if !set.isException { commands += set.commands }
            }
            let rules = RegistrationRules(now: RegistrationModel.start + 1_000_000)
            for client in clients {
                commands.shuffle(using: &random)
                for start in stride(from: 0, to: commands.count, by: CommandBatch.commandsMax) {
                    _ = try await client.apply(
                        Array(commands[start...].prefix(CommandBatch.commandsMax)), rules: rules)
                }
            }
            try await expectEqual(clients) { try await $0.rows().map(\.withoutSuspicion) }
            let exported = try await expectEqual(clients, export)
            #expect(!exported.isEmpty)
        }
    }
}
