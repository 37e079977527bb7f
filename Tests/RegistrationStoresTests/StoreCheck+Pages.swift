import APNSProtocol
import EventLoop
import Registrations
import TestKit
import Testing

extension StoreCheck {
    static let pageChecks: [StoreCheck] = [
        StoreCheck("Pages contain all rows, those of an app, or those of a user", withClient: filters),
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
            guard var details = row.details else { continue }
            details.suspicion = nil
            comparison.model.rows[key]?.state = .live(details)
        }
        try await comparison.expectEqualRows()
        #expect(comparison.model.rows.values.filter { $0.details?.suspicion != nil }.count == 1)
        #expect(try await comparison.client.edit(.unsuspend(app: "com.example.none")) == (0, 0))
    }
}
