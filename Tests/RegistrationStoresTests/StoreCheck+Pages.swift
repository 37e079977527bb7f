import APNSProtocol
import EventLoop
import Registrations
import TestKit
import Testing

extension StoreCheck {
    static let pageChecks: [StoreCheck] = [
        StoreCheck("Pages contain all rows, those of an app, or those of a user", withClient: filters),
        StoreCheck("Rows of a newer version remain, and appear in no page", unknownRows),
        StoreCheck("Pages contain all marks, and ends are restored", withClient: ends),
        StoreCheck("Restored ends end rows of other slots and tokens", withClient: endsOfOtherRows),
        StoreCheck("An operator ends the suspensions of an app", withClient: unsuspending),
    ]

    private static func filters(_ comparison: inout StoreComparison) async throws {
        var mix = CommandMix(seed: 48)
        comparison.model.now = RegistrationModel.start + 10 * CommandMix.day
        for _ in 0..<5 { try await comparison.apply(mix.batch(countMax: 40, before: 10 * CommandMix.day)) }
        let rows = comparison.model.rows.values.sorted { $0.key < $1.key }
        func expect(_ filter: RegistrationPage.Filter, _ isWanted: (Registration) -> Bool) async throws {
            for rowsMax in [1, 4, 1000] {
                #expect(try await comparison.client.rows(filter, rowsMax: rowsMax) == rows.filter(isWanted))
            }
        }
        try await expect(.all) { _ in true }
        for app in [RegistrationModel.app, RegistrationModel.otherApp, "com.example.none"] {
            try await expect(.app(app)) { $0.app == app }
            for user in ["ann", "bob", "eve"] {
                try await expect(.user(user, app: app)) { $0.app == app && $0.details?.identity?.user == user }
            }
        }
        try await expect(.user("ann", app: nil)) { $0.details?.identity?.user == "ann" }
    }

    private static func unknownRows(_ fixture: any StoreFixture) async throws {
        let rules = RegistrationRules(now: RegistrationModel.start + 1000)
        let later = RegistrationRules(now: RegistrationModel.start + 100_000)
        let tokens = (16..<36).map { String($0, radix: 16) }
        let keys = try await withClient(fixture, .sample()) { client in
            // The unknown rows expire first.
            _ = try await client.apply(
                tokens.enumerated().map { .register("ann", $1, at: 1, expires: 2000 + Int64($0)) }, rules: rules)
            let rows = try await client.rows()
            return rows.map { ($0.key, $0.details?.identity?.token) }
        }
        let known = tokens[18...]
        for (key, token) in keys where !known.contains(token ?? "") { try await fixture.makeUnknown(key.token) }
        let events = try await withClient(fixture, .sample()) { client in
            for filter in [RegistrationPage.Filter.all, .app(RegistrationModel.app), .user("ann", app: nil)] {
                let rows = try await client.rows(filter, rowsMax: 1)
                #expect(Set(rows.map { $0.details?.identity?.token }) == Set(known))
            }
            // The unknown rows do not count toward the limit of a round.
            _ = try await client.maintain(rules: later, rowsMax: 5)
            #expect(try await client.rows(.user("ann", app: nil)) == [])
            let outcomes = try await client.apply([.erase("ann", at: 5)], rules: later)
            #expect(outcomes.map(\.events.count) == [0])
            return try await client.maintain(
                rules: RegistrationRules(now: later.now + Maintenance.eventAgeMillisecondsMin))
        }
        #expect(events.count == known.count)
    }

    private static func ends(_ comparison: inout StoreComparison) async throws {
        comparison.model.now = RegistrationModel.start + 100
        try await comparison.apply([
            .unregister("ann", at: 5), .unregister("bob", device: "phone", at: 6), .erase("cid", at: 7),
            .register("dan", "0d", at: 1), .register("eve", "0e", at: 20, device: "phone"),
        ])
        let marks = comparison.model.marks.values.sorted { $0.key < $1.key }
        for marksMax in [1, 2, 1000] { #expect(try await comparison.client.marks(marksMax: marksMax) == marks) }
        let rows = comparison.model.rows.values.sorted { $0.key < $1.key }
        var tombstones: [Registration] = []
        for row in rows {
            tombstones.append(
                Registration(
                    key: row.key, app: row.app, environment: row.environment, kind: row.kind, registeredAt: 3,
                    deviceKey: nil, state: .ended(at: RegistrationModel.start + 10)))
        }
        tombstones.append(
            Registration(
                key: Registration.Key(token: marks[0].key), app: "com.example.new", environment: .sandbox, kind: .voip,
                registeredAt: 3, deviceKey: marks[1].key, state: .ended(at: 4)))
        var later = marks[0]
        (later.at, later.isPermanent) = (later.at + 1, true)
        try await comparison.restore(tombstones.map { .tombstone($0) } + [.mark(later)])
        try await comparison.expectEqualRows()
        #expect(comparison.model.reached == ["eve 0e"])
        #expect(try await comparison.client.marks().first == later)
        try await comparison.restore(tombstones.map { .tombstone($0) } + [.mark(marks[0])])
        try await comparison.expectEqualRows()
        #expect(try await comparison.client.marks().first == later)
    }

    private static func endsOfOtherRows(_ comparison: inout StoreComparison) async throws {
        var source = try RegistrationModel(.sample())
        for command: RegistrationCommand in [
            .unregister(token: "0a", at: 2), .register("ann", "0d", at: 5, device: "phone"),
            .unregister(token: "0d", at: 6), .register("cid", "0c", at: 3, shared: true), .unregister("cid", at: 4),
        ] {
            try source.apply(command)
        }
        try await comparison.apply([
            .register("bob", "0a", at: 1, shared: true), .register("ann", "0b", at: 1, device: "phone"),
            .register("cid", "0c", at: 1), .register("dan", "0e", at: 1),
        ])
        try await comparison.restore(source.rows.values.map { .tombstone($0) })
        #expect(comparison.model.reached == ["dan 0e"])
        try await comparison.expectEqualRows()
    }

    private static func unsuspending(_ comparison: inout StoreComparison) async throws {
        comparison.model.now += 10 * CommandMix.day
        let other = TokenAddress(
            app: RegistrationModel.otherApp, environment: .production, kind: .device, scope: nil, token: "0a")
        try await comparison.apply([
            .register("ann", "0a", at: 1), .register("ann", "0b", at: 1), .register("ann", "0c", at: 1),
            .register("ann", other, at: 1),
        ])
        for number in 0..<Int64(RegistrationRules.suspicionsMax) {
            let at = 2 + number * CommandMix.day
            let refusal = APNSRefusal(
                status: 400, reason: "BadDeviceToken", timestamp: RegistrationModel.start + at)
            try await comparison.apply([.suspect("0a", at: at), .suspect(other, refusal)])
        }
        try await comparison.apply(.suspect("0b", at: 2))
        for editedCount in [2, 0] {
            let counts = try await comparison.client.edit(.unsuspend(app: RegistrationModel.app), rowsMax: 3)
            #expect(counts == (editedCount, 0))
        }
        for (key, row) in comparison.model.rows where row.app == RegistrationModel.app {
            comparison.model.rows[key] = row.withoutSuspicion
        }
        try await comparison.expectEqualRows()
        #expect(comparison.model.rows.values.filter { $0.details?.suspicion != nil }.count == 1)
        #expect(try await comparison.client.edit(.unsuspend(app: "com.example.none")) == (0, 0))
    }
}
