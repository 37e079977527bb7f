import EventLoop
import Testing

@testable import Delivery

/// The limits of several apps in one lane.
@Suite struct AppLimitsTests {
    private static func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private static func limits(_ limits: [PushLimits], prefetch: Int = 1000) -> AppLimits {
        AppLimits(limits, prefetch: prefetch, waitSecondsMax: 3600)
    }

    @Test func onlyAppsWithLimitsAreLimited() {
        let some = Self.limits([PushLimits(), PushLimits(inFlightMax: 1), PushLimits(perSecondMax: 1)])
        #expect((0..<3).map { some.apply(to: $0) } == [false, true, true])
        let none = Self.limits([PushLimits(), PushLimits()])
        #expect((0..<2).allSatisfy { !none.apply(to: $0) })
    }

    // Part of the prefetch always remains for other requests.
    @Test func fewRequestsWaitInTheLane() {
        var limits = Self.limits(Array(repeating: PushLimits(inFlightMax: 1), count: 10), prefetch: 80)
        var here = Array(repeating: 0, count: 10)
        for app in 0..<10 {
            for _ in 0..<50 where limits.request(app, hasWaited: false, secondsLeft: nil, Self.time(0)) == .inLane {
                here[app] += 1
            }
        }
        #expect(here == [10, 10, 10, 10, 0, 0, 0, 0, 0, 0])
        #expect(limits.appsWaiting == [0, 1, 2, 3])
        // Another app can use the freed capacity.
        limits.ended(1, begunAt: Self.time(0), Self.time(0))
        #expect(limits.nextPermit(1, Self.time(0)) == .now)
        #expect(limits.request(9, hasWaited: true, secondsLeft: nil, Self.time(0)) == .inLane)
        #expect(limits.request(8, hasWaited: true, secondsLeft: nil, Self.time(0)) != .inLane)
        limits.forgetWaiting()
        #expect(limits.appsWaiting.isEmpty && limits.nextPermitTime == nil)
        #expect(limits.nextPermit(0, Self.time(1)) == nil)
    }

    @Test func slotsOfOneAppDoNotAffectAnother() {
        var limits = Self.limits([PushLimits(perSecondMax: 1), PushLimits(perSecondMax: 1)])
        for _ in 0..<1000 { _ = limits.request(0, hasWaited: false, secondsLeft: nil, Self.time(0)) }
        #expect(limits.request(1, hasWaited: false, secondsLeft: nil, Self.time(0)) == .now)
    }

    @Test func eachBeginningAndEndIsReportedOnce() {
        var limits = Self.limits([PushLimits(perSecondMax: 10), PushLimits(perSecondMax: 10)])
        for _ in 0..<1000 { _ = limits.request(1, hasWaited: false, secondsLeft: nil, Self.time(0)) }
        #expect(limits.changes == [.began(1)] && limits.appsLimited == [1])
        limits.changes = []
        while limits.nextPermit(1, Self.time(2)) != nil {}
        limits.review(Self.time(150))
        #expect(limits.changes.isEmpty)
        for second in Int64(3)...10 { while limits.nextPermit(1, Self.time(second)) != nil {} }
        limits.review(Self.time(170))
        #expect(limits.changes == [.ended(1, after: .seconds(170))] && limits.appsLimited.isEmpty)
    }
}
