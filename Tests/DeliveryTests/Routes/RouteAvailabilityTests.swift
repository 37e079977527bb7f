import EventLoop
import Testing

@testable import Delivery

@Suite struct RouteAvailabilityTests {
    private func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    @Test func aNewLaneIsAvailable() {
        var availability = RouteAvailability(endpointCount: 2)
        let tests = availability.beginTests(at(0))
        #expect(tests.isEmpty && availability.state(at(0)) == .available)
    }

    @Test(arguments: UInt64(0)..<10) func theLastAcceptedPoolIsTestedFirst(random: UInt64) {
        var availability = RouteAvailability(endpointCount: 2)
        let pools = [1, 2, 3, 5, 8, 9]
        func tested() -> [Int] { Array(availability.testingPools(of: 1, among: pools, random: random)) }
        #expect(Set(tested()).count == RouteAvailability.testingPoolsMax)
        #expect(tested()[0] == pools[Int(random) % pools.count])
        availability.accepted(0, pool: 4, at(0))
        availability.accepted(1, pool: 8, at(0))
        availability.lost(1)
        #expect(tested()[0] == 8 && Set(tested()).count == RouteAvailability.testingPoolsMax)
        #expect(Array(availability.testingPools(of: 0, among: [4], random: random)) == [4])
    }

    @Test func anInterruptionHasAGracePeriod() {
        var availability = RouteAvailability(endpointCount: 1)
        availability.accepted(0, pool: 0, at(0))
        availability.missed(0, since: at(100))
        #expect(availability.state(at(1099)) == .interrupted(until: at(1100)))
        #expect(availability.state(at(1100)) == .unreachable)
        availability.accepted(0, pool: 0, at(0))
        #expect(availability.state(at(5000)) == .available)
    }

    @Test func untestedEndpointsAreTestedOnceWithTheirOwnGracePeriod() {
        var availability = RouteAvailability(endpointCount: 3)
        availability.accepted(1, pool: 0, at(0))
        availability.missed(0, since: at(0))
        var tests = availability.beginTests(at(2000))
        #expect(tests.isEmpty && availability.state(at(2000)) == .available)
        availability.missed(1, since: at(3000))
        tests = availability.beginTests(at(3999))
        #expect(tests.isEmpty)
        tests = availability.beginTests(at(4000))
        #expect(tests == [2])
        tests = availability.beginTests(at(4000))
        #expect(tests.isEmpty)
        #expect(availability.state(at(4000)) == .interrupted(until: at(7000)))
        #expect(availability.state(at(7000)) == .unreachable)
        availability.accepted(2, pool: 0, at(0))
        #expect(availability.state(at(7000)) == .available)
    }

    @Test func aFailedTestEndsTheGracePeriod() {
        var availability = RouteAvailability(endpointCount: 2)
        availability.missed(0, since: at(0))
        let tests = availability.beginTests(at(1000))
        availability.missed(1, since: at(1000))
        #expect(tests == [1] && availability.state(at(2000)) == .unreachable)
    }

    // If the endpoint were not tested, its earlier success would hide a network outage.
    @Test func anEndpointWhoseIdleConnectionEndedIsTestedAgain() {
        var availability = RouteAvailability(endpointCount: 2)
        availability.accepted(0, pool: 0, at(0))
        availability.accepted(1, pool: 0, at(0))
        availability.lost(1)
        availability.missed(0, since: at(0))
        let tests = availability.beginTests(at(1000))
        #expect(tests == [1] && availability.state(at(4000)) == .unreachable)
    }

    @Test func anEndpointIsMissingSinceItsFirstFailure() {
        var availability = RouteAvailability(endpointCount: 1)
        availability.missed(0, since: at(0))
        availability.missed(0, since: at(900))
        #expect(availability.state(at(1000)) == .unreachable)
    }

    // An endpoint may lose its last connection without a failure that shows whether it still accepts connections. For
    // example, the pool closes the connection, or the server refuses a certificate.
    @Test func anOldSuccessCountsWhileAConnectionIsUp() {
        var availability = RouteAvailability(endpointCount: 2)
        availability.accepted(0, pool: 0, at(0))
        availability.accepted(1, pool: 0, at(0))
        #expect(availability.oldAcceptances(at(100_000)) == [], "an old success does not count")
        availability.missed(0, since: at(0))
        #expect(availability.oldAcceptances(at(59_999)) == [])
        #expect(availability.oldAcceptances(at(60_000)) == [1])
        availability.lost(1)
        let tests = availability.beginTests(at(60_000))
        #expect(tests == [1] && availability.state(at(63_000)) == .unreachable)
    }
}
