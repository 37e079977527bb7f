import APNSSimulator
import TestKit
import Testing

@testable import Delivery

/// Pushes with several keys, on virtual time.
@Suite struct LaneCredentialsTests {
    // Rows 83 and 86 of the conformance table. The first push binds a connection to its team and to its kind of key.
    @Test(arguments: [(2, RegisteredKey.Scope.team), (1, .topics([SimulatedApps.bundleID(1)], relatedKeyID: nil))])
    func noConnectionCarriesTwoKeys(teams: Int, scope: RegisteredKey.Scope) throws {
        let fixture = try LaneAPNSHarness(connectionsMax: 2, keys: 2, teams: teams, apps: 2)
        fixture.harness.onLoop { fixture.restore(1, scope) }
        for number in 0..<40 { fixture.request(1, from: number, app: number % 2) }
        #expect(fixture.harness.run { fixture.results == 40 })
        #expect(fixture.pushes.map(\.status) == Array(repeating: 200, count: 40))
        // Each app has its own key.
        let topics = Dictionary(grouping: fixture.pushes, by: \.connection).values.map { pushes in
            Set(pushes.map { $0["apns-topic"] })
        }
        #expect(topics.count >= 2 && topics.allSatisfy { $0.count == 1 })
    }
}
