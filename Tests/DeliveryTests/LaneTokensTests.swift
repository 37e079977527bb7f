import APNSSimulator
import EventLoop
import Testing

@testable import Delivery

/// What APNs sees of provider tokens that are signed once for a process.
@Suite struct LaneTokensTests {
    @Test(arguments: [true, false]) func oneTokenGoesOverAllConnectionsOfAllLanes(signsOnce: Bool) throws {
        let lanes = 20
        let scene = try LaneAPNSHarness(lanes: lanes, signsOnce: signsOnce)
        for number in 0..<3 * lanes {
            scene.request(1, from: number)
            // A token says in which second it was signed.
            scene.harness.pass(seconds: 2)
        }
        try #require(scene.results == 3 * lanes)
        #expect(Set(scene.pushes.map(\.connection)).count == lanes)
        let tokens = Set(scene.pushes.map { $0["authorization"] })
        #expect(tokens.count == (signsOnce ? 1 : lanes) && !tokens.contains(nil))
    }

    /// Tokens have grown too old meanwhile; the process signs others within a moment.
    @Test func afterASuspensionNothingIsHeld() throws {
        let scene = try LaneAPNSHarness(keys: 2, apps: 2, signsOnce: true)
        for app in 0..<2 { scene.request(1, from: app, app: app) }
        try #require(scene.harness.run { scene.results == 2 })
        scene.harness.loop.now.sinceBoot = scene.harness.loop.now.sinceBoot + .seconds(3600)
        scene.harness.loop.now.unixNanoseconds += 3600 * 1_000_000_000
        for number in 2..<10 { scene.request(1, from: number, app: number % 2) }
        var signed = 0
        #expect(
            scene.harness.run {
                signed += scene.signTokens()
                return scene.accepted == 10
            })
        #expect(signed == 2 && scene.harness.withLane { $0.pipeline.dispatcher.breakers.areAllClosed })
        #expect(scene.results == 10 && scene.waits == 0)
    }
}
