import EventLoop
import Testing

@testable import Delivery

@Suite struct RouteUseTests {
    private func seconds(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func allAreHeldWhenEachThatIsInUseIs() {
        var breakers = Breakers(endpointOfPool: [0, 1])
        var use = RouteUse(routeCount: 10)
        let (one, other) = (Route(pool: 0, number: 3), Route(pool: 1, number: 4))
        use.used(one, seconds(0))
        use.used(other, seconds(100))
        #expect(!use.areAllHeld(by: breakers, at: seconds(100)))
        breakers.cannotConnect(0, isAlone: false, BreakerCause("unreachable", ""), seconds(100))
        #expect(!use.areAllHeld(by: breakers, at: seconds(100)))
        use.used(one, seconds(600))
        #expect(!use.areAllHeld(by: breakers, at: seconds(699)))
        #expect(use.areAllHeld(by: breakers, at: seconds(700)), "the other is no longer in use")
        #expect(!use.areAllHeld(by: breakers, at: seconds(1200)), "none is")
        breakers.cannotConnect(1, isAlone: false, BreakerCause("unreachable", ""), seconds(100))
        #expect(use.areAllHeld(by: breakers, at: seconds(600)))
    }
}
