import EventLoop
import Registrations
import TestKit
import Testing

extension StoreCheck {
    static let maintenanceChecks: [StoreCheck] = [
        StoreCheck("Expired rows end, and their events are claimed once they are old", withClient: expirations),
        StoreCheck("Rounds are limited, and complete", withClient: rounds),
        StoreCheck("Claimed events may be duplicates, and are not claimed again at once", withClient: claims),
        StoreCheck("Old tombstones and marks are forgotten, and permanent marks remain", withClient: forgetting),
    ]

    private static func expirations(_ comparison: inout StoreComparison) async throws {
        comparison.model.now = RegistrationModel.start + 10
        try await comparison.apply([
            .register("ann", "0a", at: 1, expires: 100), .register("ann", "0b", at: 1, expires: 101),
            .register("bob", "0c", at: 1),
        ])
        try await comparison.maintain()
        comparison.model.now = RegistrationModel.start + 100
        try await comparison.maintain()
        try await comparison.expectEqualRows()
        #expect(comparison.unclaimed.map(\.identity.token) == ["0a"])
        // A batch also ends the expired rows that it concerns.
        comparison.model.now += 10
        try await comparison.apply(.register("ann", "0d", at: 110))
        #expect(comparison.unclaimed.map(\.identity.token) == ["0a", "0b"])
        let early = try await comparison.client.maintain(rules: comparison.model.rules)
        #expect(early == [])
        comparison.model.now += Maintenance.eventAgeMillisecondsMin
        try await comparison.maintain()
        try await comparison.expectEqualRows()
        #expect(comparison.unclaimed == [] && comparison.handedOut.count == 2)
        comparison.model.now += Maintenance.eventAgeMillisecondsMin
        try await comparison.maintain()
    }

    private static func rounds(_ comparison: inout StoreComparison) async throws {
        comparison.model.now = RegistrationModel.start + 10
        let tokens = (16..<66).map { String($0, radix: 16) }
        try await comparison.apply(tokens.map { .register("ann", $0, at: 1, expires: 100) })
        comparison.model.now += 1000
        try await comparison.maintain(rowsMax: 7)
        try await comparison.expectEqualRows()
        #expect(comparison.unclaimed.count == 50)
        comparison.model.now += RegistrationRules.tombstoneMillisecondsMax
        try await comparison.maintain(rowsMax: 7)
        #expect(comparison.handedOut.count == 50 && comparison.model.rows == [:])
        try await comparison.expectEqualRows()
    }

    private static func claims(_ comparison: inout StoreComparison) async throws {
        try await comparison.apply(.register("ann", "0a", at: 1))
        try await comparison.apply(.register("bob", "0a", at: 2))
        let rules = comparison.model.rules
        #expect(try await comparison.client.maintain(rules: rules) == [])
        for _ in 0..<2 {
            comparison.model.now += Maintenance.eventAgeMillisecondsMin
            let claimed = try await comparison.client.maintain(rules: comparison.model.rules)
            #expect(claimed.map(\.mayBeDuplicate) == [true])
            #expect(claimed.map(\.id) == comparison.handedOut.keys.map { $0 })
            comparison.model.now += Maintenance.eventAgeMillisecondsMin - 1
            #expect(try await comparison.client.maintain(rules: comparison.model.rules) == [])
        }
        try await comparison.deleteEvents()
        comparison.model.now += 10 * Maintenance.eventAgeMillisecondsMin
        try await comparison.maintain()
    }

    private static func forgetting(_ comparison: inout StoreComparison) async throws {
        comparison.model.now = RegistrationModel.start + 10
        try await comparison.apply([
            .register("ann", "0a", at: 1), .unregister(token: "0a", at: 5), .unregister("bob", at: 5),
            .erase("cid", at: 5), .register("dan", "0b", at: 1),
        ])
        for isOver in [false, true] {
            comparison.model.now = RegistrationModel.start + 5 + RegistrationRules.tombstoneMillisecondsMax
            if isOver { comparison.model.now += 1 }
            try await comparison.maintain()
            try await comparison.expectEqualRows()
            #expect(comparison.model.rows.count == (isOver ? 1 : 2))
        }
        // An import applies commands of this age. Workers reject them.
        try await comparison.apply([
            .register("ann", "0a", at: 5), .register("bob", "0c", at: 5), .register("cid", "0d", at: 5),
        ])
        try await comparison.expectEqualRows()
        #expect(comparison.model.reached == ["ann 0a", "bob 0c", "dan 0b"])
    }
}
