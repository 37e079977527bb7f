import APNSProtocol
import Crypto
import EventLoop
import Registrations
import TestKit
import Testing

@testable import RegistrationStores

/// Several writers of one store, each on its own loop.
@Suite(.serialized, .postgres) struct PostgresConcurrencyTests {
    /// Calls `body` concurrently for two clients, each on its own loop, with the number of the client.
    private func withTwoClients(
        _ fixture: PostgresFixture, _ body: @Sendable @escaping (Int, RecordedClient) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2 {
                group.addTask {
                    try await fixture.withClient { recorded in
                        try await recorded.waitUntilReady()
                        try await body(number, recorded)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func liveRows(_ fixture: PostgresFixture) async throws -> [Registration] {
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            return try await recorded.client.rows().filter { $0.details != nil }
        }
    }

    @Test func `Random batches about the same users succeed without a deadlock`() async throws {
        let fixture = try await PostgresFixture()
        let now = RegistrationModel.start + 10 * CommandMix.day
        try await withTwoClients(fixture) { number, recorded in
            var mix = CommandMix(seed: UInt64(60 + number))
            for round in 0..<200 {
                let rules = RegistrationRules(now: now, devicesPerUserMax: 3)
                let commands = mix.batch(countMax: 40, before: 10 * CommandMix.day)
                _ = try await recorded.client.apply(commands, rules: rules)
                guard round.isMultiple(of: 20) else { continue }
                _ = try await recorded.client.maintain(
                    rules: RegistrationRules(now: now + Maintenance.eventAgeMillisecondsMin))
                _ = try await recorded.client.edit(.unsuspend(app: RegistrationModel.app), rowsMax: 5)
            }
        }
        try await expectRules(fixture)
        try await expectNoDeadlock(fixture, afterCommits: 300)
    }

    @Test func `Batches of an import and of the queue about the same users succeed without a deadlock`() async throws {
        let fixture = try await PostgresFixture()
        let rules = RegistrationRules(now: RegistrationModel.start + 10 * CommandMix.day, devicesPerUserMax: 3)
        try await withTwoClients(fixture) { number, recorded in
            var mix = CommandMix(seed: UInt64(62 + number))
            if number == 0 {
                try #require(recorded.client.writer as? PostgresWriter).context.partCommandsMax = 50
                for _ in 0..<20 {
                    var commands: [RegistrationCommand] = []
                    while commands.count <= CommandBatch.commandsMax {
                        commands += mix.batch(countMax: 100, before: 10 * CommandMix.day)
                    }
                    _ = try await recorded.client.apply(commands, rules: rules)
                }
            } else {
                for round in 0..<100 {
                    _ = try await recorded.client.apply(
                        mix.batch(countMax: 40, before: 10 * CommandMix.day), rules: rules)
                    guard round.isMultiple(of: 5) else { continue }
                    _ = try await recorded.client.maintain(
                        rules: RegistrationRules(now: rules.now + Maintenance.eventAgeMillisecondsMin))
                    _ = try await recorded.client.edit(.unsuspend(app: RegistrationModel.app), rowsMax: 5)
                }
            }
        }
        try await expectRules(fixture)
        try await expectNoDeadlock(fixture, afterCommits: 100)
    }

    /// Expects that the live rows are readable, that each installation has one, and that no user has more than three.
    private func expectRules(_ fixture: PostgresFixture) async throws {
        let live = try await liveRows(fixture)
        #expect(live.allSatisfy { $0.details?.identity != nil })
        let devices = live.compactMap(\.deviceKey)
        #expect(Set(devices).count == devices.count)
        let users = Dictionary(grouping: live) { $0.details?.userKey }
        #expect(users.values.allSatisfy { $0.count <= 3 })
    }

    private func expectNoDeadlock(_ fixture: PostgresFixture, afterCommits count: Int) async throws {
        try await poll(until: "the statistics are complete") {
            try await fixture.sql(
                "SELECT xact_commit > \(count) FROM pg_stat_database WHERE datname = current_database()") == ["t"]
        }
        let deadlocks = try await fixture.sql(
            "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        #expect(deadlocks == ["0"])
    }

    @Test func `Of two tokens that one installation registers at once, one remains live`() async throws {
        let fixture = try await PostgresFixture()
        let deviceCount = 100
        try await withTwoClients(fixture) { number, recorded in
            for device in 0..<deviceCount {
                let token = String(1000 + 2 * device + number, radix: 10)
                let outcomes = try await recorded.client.apply(
                    [.register("ann", token, at: 1, device: "phone \(device)")], rules: .test)
                #expect([.stored, .superseded].contains(outcomes[0].reply))
            }
        }
        let live = try await liveRows(fixture)
        #expect(live.count == deviceCount && Set(live.map(\.deviceKey)).count == deviceCount)
        // The other token of each installation has a row, too.
        let tokens = try await fixture.sql("SELECT count(*) FROM martlet.registration")
        #expect(tokens == ["\(2 * deviceCount)"])
    }

    @Test func `A token that two users register at once belongs to one of them`() async throws {
        let fixture = try await PostgresFixture()
        try await withTwoClients(fixture) { number, recorded in
            for token in 1000..<1100 {
                let command = RegistrationCommand.register(number == 0 ? "ann" : "bob", "\(token)", at: 1)
                _ = try await recorded.client.apply([command], rules: .test)
            }
        }
        let live = try await liveRows(fixture)
        #expect(live.count == 100 && Set(live.compactMap { $0.details?.identity?.user }).count == 1)
    }

    @Test func `Apps that appear at once get one number each`() async throws {
        let fixture = try await PostgresFixture()
        try await withTwoClients(fixture) { number, recorded in
            for app in 0..<50 {
                // Both clients use every third app.
                let name = "com.example.app\(app % 3 == 0 ? 0 : number).\(app)"
                let address = TokenAddress(
                    app: name, environment: .production, kind: .device, scope: nil, token: "0a")
                let outcomes = try await recorded.client.apply(
                    [.register("user \(number)", address, at: 1, shared: true)], rules: .test)
                #expect(outcomes.map(\.reply) == [.stored])
            }
        }
        let apps = try await fixture.sql("SELECT count(*), count(DISTINCT bundle_id) FROM martlet.app")
        let count = 17 + 2 * 33
        #expect(apps == ["\(count)|\(count)"])
        #expect(try await liveRows(fixture).count == 100)
    }

    @Test func `An erasure in all apps includes an app that another writer added`() async throws {
        let fixture = try await PostgresFixture()
        try await fixture.withClient { first in
            try await first.waitUntilReady()
            #expect(await first.fault(of: [.register("ann", "0a", at: 1)]) == nil)
            try await fixture.withClient { second in
                try await second.waitUntilReady()
                let address = TokenAddress(
                    app: RegistrationModel.otherApp, environment: .production, kind: .device, scope: nil, token: "0b")
                #expect(await second.fault(of: [.register("ann", address, at: 1)]) == nil)
            }
            let outcomes = try await first.client.apply([.erase("ann", at: 2)], rules: .test)
            #expect(outcomes[0].reply == .ended && outcomes[0].events.count == 2)
        }
        #expect(try await liveRows(fixture) == [])
    }

    @Test func `Each event is claimed by one writer`() async throws {
        let count = 90
        let fixture = try await PostgresFixture()
        try await fixture.withClient { recorded in
            try await recorded.waitUntilReady()
            let tokens = (1000..<1000 + count).map { "\($0)" }
            #expect(await recorded.fault(of: tokens.map { .register("ann", $0, at: 1) }) == nil)
            let outcomes = try await recorded.client.apply([.erase("ann", at: 2)], rules: .test)
            #expect(outcomes[0].events.count == count)
        }
        let claims = ClaimedIDs()
        let later = RegistrationRules(now: RegistrationRules.test.now + Maintenance.eventAgeMillisecondsMin)
        try await withTwoClients(fixture) { _, recorded in
            let events = try await recorded.client.maintain(rules: later, rowsMax: 7)
            await claims.insert(events.map(\.id))
        }
        let ids = await claims.ids
        #expect(ids.count == count && Set(ids).count == count)
    }

    private actor ClaimedIDs {
        private(set) var ids: [UUIDValue] = []

        func insert(_ new: [UUIDValue]) { ids += new }
    }
}
