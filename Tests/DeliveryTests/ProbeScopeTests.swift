import APNSSimulator
import EventLoop
import Testing

@testable import Delivery

/// The scopes of operators' probes, and their effect on a lane on virtual time.
@Suite struct ProbeScopeTests {
    @Test(arguments: [
        ProbeScope.part(.everything), .part(.key("ABC123DEFG")), .part(.certificate("a b")), .part(.topic("t")),
        .endpoint("api.push.apple.com:2197"), .store,
    ])
    func aScopeIsReadAsDescribed(scope: ProbeScope) { #expect(ProbeScope(scope.description) == scope) }

    @Test(arguments: ["", "key", "key ", "endpoint", "endpoint ", "Store", "shop"])
    func anotherTextIsNoScope(text: String) { #expect(ProbeScope(text) == nil) }

    @Test func aScopeContainsTheRoutesOfItsBreakers() {
        let routes = [
            "api.push.apple.com", "api.push.apple.com key K", "api.push.apple.com key K topic t",
            "api.push.apple.com certificate c", "store",
        ]
        func contained(_ scope: ProbeScope) -> [Int] { routes.indices.filter { scope.contains(route: routes[$0]) } }
        #expect(contained(.part(.everything)) == [0, 1, 2, 3, 4])
        #expect(contained(.part(.key("K"))) == [1] && contained(.part(.key("L"))) == [])
        #expect(contained(.part(.topic("t"))) == [2] && contained(.part(.certificate("c"))) == [3])
        #expect(contained(.endpoint("api.push.apple.com")) == [0] && contained(.store) == [4])
    }

    /// Probes a scope in the only lane. Returns the number of breakers.
    private func probe(_ scope: ProbeScope, _ fixture: LaneAPNSHarness) -> Int {
        fixture.harness.withLane { $0.probeNow(scope) }
    }

    @Test func aRepairedKeyIsPushedWithAtTheNextRequest() throws {
        let fixture = try LaneAPNSHarness()
        let key = ProbeScope.part(.key(SimulatedApps.keyID(0)))
        fixture.harness.onLoop { fixture.revoke(0) }
        fixture.request(1)
        try #require(fixture.harness.run { !fixture.areBreakersClosed })
        fixture.harness.onLoop { fixture.restore(0) }
        #expect(probe(.part(.key("OTHER")), fixture) == 0 && probe(.store, fixture) == 0)
        #expect(probe(key, fixture) == 1 && probe(key, fixture) == 1)
        let repaired = fixture.now
        fixture.request(1, from: 1)
        try #require(fixture.harness.run { fixture.areBreakersClosed })
        // The regular probe is due later. A new connection takes about a second.
        #expect(repaired.duration(to: fixture.now) < .seconds(Breaker.firstProbeSeconds - 1))
        #expect(probe(key, fixture) == 0)
        #expect(fixture.harness.run { fixture.accepted == 2 })
        #expect(fixture.pushes.count { $0.status == 403 } == 1)
    }
}
