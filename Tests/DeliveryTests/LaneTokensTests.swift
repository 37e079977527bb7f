import APNSSimulator
import EventLoop
import Testing

@testable import Delivery

/// The provider tokens that APNs receives, signed once for all lanes or separately by each lane.
@Suite struct LaneTokensTests {
    @Test(arguments: [true, false]) func oneTokenGoesOverAllConnectionsOfAllLanes(signsOnce: Bool) throws {
        let lanes = 20
        let fixture = try LaneAPNSHarness(lanes: lanes, signsOnce: signsOnce)
        for number in 0..<3 * lanes {
            fixture.request(1, from: number)
            // A token contains the second in which it was signed.
            fixture.harness.pass(seconds: 2)
        }
        try #require(fixture.results == 3 * lanes)
        #expect(Set(fixture.pushes.map(\.connection)).count == lanes)
        let tokens = Set(fixture.pushes.map { $0["authorization"] })
        #expect(tokens.count == (signsOnce ? 1 : lanes) && !tokens.contains(nil))
    }

    // The tokens expired during the suspension. The process signs new tokens immediately.
    @Test func afterASuspensionNothingIsHeld() throws {
        let fixture = try LaneAPNSHarness(keys: 2, apps: 2, signsOnce: true)
        for app in 0..<2 { fixture.request(1, from: app, app: app) }
        try #require(fixture.harness.run { fixture.results == 2 })
        fixture.harness.loop.now.sinceBoot = fixture.harness.loop.now.sinceBoot + .seconds(3600)
        fixture.harness.loop.now.unixNanoseconds += 3600 * 1_000_000_000
        for number in 2..<10 { fixture.request(1, from: number, app: number % 2) }
        var signed = 0
        #expect(
            fixture.harness.run {
                signed += fixture.signTokens()
                return fixture.accepted == 10
            })
        #expect(signed == 2 && fixture.harness.withLane { $0.pipeline.dispatcher.breakers.areAllClosed })
        #expect(fixture.results == 10 && fixture.waits == 0)
    }
}
