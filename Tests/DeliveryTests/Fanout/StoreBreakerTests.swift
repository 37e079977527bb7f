import EventLoop
import Registrations
import Testing

@testable import Delivery

@Suite struct StoreBreakerTests {
    private static let away = StoreFault(.unreachable, "away")
    private static let refused = StoreFault(.refused, "wrong password")

    private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    private func connected() -> StoreBreaker {
        var breaker = StoreBreaker(time(0))
        breaker.connected(time(1))
        return breaker
    }

    @Test func `Searches wait for the first connection for three seconds`() {
        var breaker = StoreBreaker(time(0))
        #expect(!breaker.isConnected && breaker.holdReason == nil && breaker.deadline == time(3000))
        #expect(breaker.timeout(time(2999)) == nil)
        guard case .opened(let reason)? = breaker.timeout(time(3000)) else {
            Issue.record("the breaker did not open")
            return
        }
        #expect(reason.code == "store-unreachable" && breaker.holdReason == reason && breaker.deadline == nil)
    }

    @Test func `A lost connection opens the breaker after three seconds, with its reason`() {
        var breaker = connected()
        #expect(breaker.disconnected(Self.away, time(1000)) == nil && !breaker.isConnected)
        #expect(breaker.timeout(time(3500)) == nil)
        breaker.connected(time(3600))
        #expect(breaker.timeout(time(5000)) == nil && breaker.isConnected)
        #expect(breaker.disconnected(Self.away, time(6000)) == nil)
        #expect(breaker.timeout(time(9000)) == .opened(HoldReason(Self.away)))
    }

    @Test(arguments: [StoreFault.Code.refused, .schema, .data])
    func `A fault that a new connection does not end opens the breaker`(_ code: StoreFault.Code) {
        let fault = StoreFault(code, "x")
        var breaker = connected()
        #expect(breaker.lookupFailed(fault, time(2)) == .opened(HoldReason(fault)))
        breaker = connected()
        #expect(breaker.disconnected(fault, time(2)) == .opened(HoldReason(fault)))
        #expect(breaker.holdReason?.code == "store-\(code.rawValue)")
    }

    @Test func `An operator's probe of the store is due at once`() {
        let fault = StoreFault(.refused, "x")
        var breaker = connected()
        _ = breaker.lookupFailed(fault, time(0))
        breaker.probeNow(time(1))
        #expect(breaker.deadline == time(1) && breaker.beginProbe(time(1)))
        breaker.probeNow(time(1))
        #expect(breaker.beginProbe(time(1)) == false, "two probes are in flight")
        breaker.probeFailed(fault, time(2))
        breaker.probeNow(time(3))
        #expect(breaker.beginProbe(time(3)) && breaker.probeSucceeded(time(3)) != nil)
        breaker.probeNow(time(3))
        #expect(breaker.isConnected)
    }

    @Test func `Three failed lookups in a row open the breaker`() {
        var breaker = connected()
        #expect(breaker.lookupFailed(Self.away, time(2)) == nil)
        #expect(breaker.lookupFailed(Self.away, time(3)) == nil)
        breaker.lookupCompleted()
        #expect(breaker.lookupFailed(Self.away, time(4)) == nil)
        #expect(breaker.lookupFailed(Self.away, time(5)) == nil)
        #expect(breaker.lookupFailed(Self.away, time(6)) == .opened(HoldReason(Self.away)))
    }

    @Test func `Lookups that fail together count once`() {
        var breaker = connected()
        for _ in 0..<4 { #expect(breaker.lookupFailed(Self.away, time(2)) == nil) }
        #expect(breaker.disconnected(Self.away, time(2)) == nil)
        breaker.connected(time(5))
        #expect(breaker.lookupFailed(Self.away, time(6)) == nil)
        #expect(breaker.isConnected)
    }

    @Test func `A new connection is probed at once, and a lookup closes the breaker`() {
        var breaker = connected()
        _ = breaker.disconnected(Self.refused, time(1000))
        #expect(!breaker.beginProbe(time(20_000)) && breaker.deadline == nil)
        breaker.connected(time(30_000))
        #expect(breaker.deadline == time(30_000))
        #expect(breaker.beginProbe(time(30_000)) && !breaker.beginProbe(time(60_000)))
        guard case .closed(let opening)? = breaker.probeSucceeded(time(30_001)) else {
            Issue.record("the breaker did not close")
            return
        }
        #expect(opening.since == time(1000) && breaker.isConnected && breaker.holdReason == nil)
    }

    @Test func `Failed probes wait longer, and update the reason`() {
        var breaker = connected()
        _ = breaker.lookupFailed(Self.refused, time(0))
        var now: Int64 = 1000
        for wait in [1, 2, 4, 8, 10, 10] {
            #expect(breaker.deadline == time(now))
            #expect(!breaker.beginProbe(time(now - 1)) && breaker.beginProbe(time(now)))
            breaker.probeFailed(Self.away, time(now))
            now += Int64(wait) * 1000
        }
        #expect(breaker.holdReason?.code == "store-unreachable")
    }

    @Test func `A probe that succeeds after the connection is lost waits for the next one`() {
        var breaker = connected()
        _ = breaker.lookupFailed(Self.refused, time(0))
        #expect(breaker.beginProbe(time(1000)) && breaker.disconnected(Self.away, time(1001)) == nil)
        _ = breaker.probeSucceeded(time(1002))
        #expect(!breaker.isConnected && breaker.holdReason == nil && breaker.deadline == time(4002))
    }
}
