import APNSSimulator
import Testing

/// What APNs sees of provider tokens that are signed once for a process.
@Suite struct LaneTokensTests {
    @Test(arguments: [true, false]) func oneTokenGoesOverAllConnectionsOfAllLanes(signsOnce: Bool) throws {
        let lanes = 20
        let scene = try LaneScene(lanes: lanes, signsOnce: signsOnce)
        for number in 0..<3 * lanes {
            scene.request(1, from: number)
            // A token says in which second it was signed.
            scene.rig.pass(seconds: 2)
        }
        try #require(scene.results == 3 * lanes)
        #expect(Set(scene.pushes.map(\.connection)).count == lanes)
        let tokens = Set(scene.pushes.map { $0["authorization"] })
        #expect(tokens.count == (signsOnce ? 1 : lanes) && !tokens.contains(nil))
    }
}
