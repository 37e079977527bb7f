import BrokerTopology
import EventLoop
import Testing

@testable import Delivery

/// The slots of an app with limits, and the number of times that its requests wait at the broker.
@Suite struct AppLimitTests {
    private static func limit(
        inFlight: Int? = nil, perSecond: Double? = nil, waitingMax: Int = 10, waitSecondsMax: Int = 3600
    ) -> AppLimit {
        AppLimit(
            PushLimits(inFlightMax: inFlight, perSecondMax: perSecond), waitingMax: waitingMax,
            waitSecondsMax: waitSecondsMax)
    }

    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test func aBurstIsPushedAndTheRestGetsSlots() {
        var limit = Self.limit(perSecond: 20)
        // A burst consists of the pushes of a tenth of a second and the push that is due.
        #expect((0..<3).map { _ in limit.request(.init(), Self.time(0)) } == [.now, .now, .now])
        #expect(limit.request(.init(), Self.time(0)) == .inLane)
        #expect(limit.request(.init(), Self.time(0)) == .inLane)
        #expect(limit.nextPermitTime == Self.time(50))
        #expect(limit.nextPermit(Self.time(49)) == nil)
        #expect(limit.nextPermit(Self.time(50)) == .now)
        #expect(limit.nextPermit(Self.time(50)) == nil && limit.nextPermitTime == Self.time(100))
        #expect(limit.nextPermit(Self.time(120)) == .now && limit.nextPermitTime == nil)
        #expect(limit.inFlight == 5)
    }

    /// Requests that may not wait in the lane return one by one at their slots.
    @Test func requestsBeyondTheLaneWaitAtTheBroker() {
        var limit = Self.limit(perSecond: 10, waitingMax: 2)
        let permits = (0..<7).map { _ in limit.request(.init(), Self.time(0)) }
        #expect(
            permits == [
                .now, .now, .inLane, .inLane, .atBroker(milliseconds: 300), .atBroker(milliseconds: 400),
                .atBroker(milliseconds: 500),
            ])
        #expect(limit.backlog(Self.time(0)) == .milliseconds(500))
        #expect(limit.limitedSince == Self.time(0))
    }

    @Test func returnedRequestsPrecedeNewOnes() {
        var limit = Self.limit(perSecond: 10, waitingMax: 100)
        for _ in 0..<100 { _ = limit.request(.init(), Self.time(0)) }
        for _ in 0..<10 { _ = limit.nextPermit(Self.time(950)) }
        #expect(limit.waitingCount == 8)
        // The slots of the next nine seconds are planned.
        guard case .atBroker(let milliseconds) = limit.request(.init(), Self.time(950)) else {
            return #expect(Bool(false), "a new request preceded the returned requests")
        }
        #expect(milliseconds > 8000)
        #expect(limit.request(.init(hasWaited: true), Self.time(950)) == .inLane)
    }

    @Test func pushesInFlightAreCounted() {
        var limit = Self.limit(inFlight: 2)
        #expect((0..<3).map { _ in limit.request(.init(), Self.time(0)) } == [.now, .now, .inLane])
        #expect(limit.nextPermit(Self.time(10)) == nil)
        limit.ended(begunAt: Self.time(0), Self.time(20))
        #expect(limit.nextPermit(Self.time(20)) == .now)
        #expect(limit.inFlight == 2 && limit.waitingCount == 0)
        limit.ended(begunAt: Self.time(0), Self.time(30))
        limit.ended(begunAt: Self.time(20), Self.time(40))
        #expect(limit.inFlight == 0 && limit.limitedSince == nil)
    }

    // If a breaker opens or a pool is full, many pushes end in the iteration in which they begin.
    @Test func unsentPushesDoNotCountInTheDuration() {
        var limit = Self.limit(inFlight: 1, waitingMax: 1)
        for _ in 0..<1000 {
            #expect(limit.request(.init(), Self.time(0)) == .now)
            limit.ended(begunAt: Self.time(0), Self.time(0))
        }
        #expect((0..<2).map { _ in limit.request(.init(), Self.time(0)) } == [.now, .inLane])
        #expect(limit.request(.init(), Self.time(0)) == .atBroker(milliseconds: 100))
    }

    @Test func aReturnedRequestWaitsInTheLaneAtALowRate() {
        var limit = Self.limit(perSecond: 0.25)
        #expect(limit.request(.init(), Self.time(0)) == .now)
        #expect(limit.request(.init(), Self.time(0)) == .atBroker(milliseconds: 3900))
        #expect(limit.request(.init(), Self.time(3900)) == .now, "the new request got no permit")
        #expect(limit.request(.init(hasWaited: true), Self.time(3905)) == .inLane)
        #expect(limit.nextPermit(Self.time(7899)) == nil)
        #expect(limit.nextPermit(Self.time(7900)) == .now)
    }

    // RabbitMQ closes a channel on which a delivery stays unacknowledged for too long.
    @Test func aRequestMovesToTheBrokerAfterTheLongestWaitInTheLane() {
        var limit = Self.limit(inFlight: 1)
        #expect(limit.request(.init(), Self.time(0)) == .now)
        #expect(limit.request(.init(), Self.time(100)) == .inLane)
        #expect(limit.nextPermitTime == Self.time(100) + .seconds(AppLimit.laneWaitSecondsMax))
        #expect(limit.nextPermit(Self.time(5099)) == nil)
        guard case .atBroker = limit.nextPermit(Self.time(5100)) else {
            return #expect(Bool(false), "the request still waits in the lane")
        }
        #expect(limit.waitingCount == 0 && limit.nextPermitTime == nil)
    }

    // The slot would be too late for the request, so another request can have it.
    @Test func aRequestThatExpiresBeforeItsSlotUsesNone() {
        var limit = Self.limit(perSecond: 1, waitingMax: 0)
        _ = (0..<2).map { _ in limit.request(.init(), Self.time(0)) }
        for _ in 0..<100 { _ = limit.request(.init(secondsLeft: 1), Self.time(0)) }
        for _ in 0..<10 { _ = limit.request(.init(secondsLeft: 0), Self.time(0)) }
        #expect(limit.backlog(Self.time(0)) <= .seconds(2))
    }

    @Test func theLastOfTheBacklogEndsTheLimit() {
        var limit = Self.limit(perSecond: 10, waitingMax: 0)
        for _ in 0..<102 { _ = limit.request(.init(), Self.time(0)) }
        #expect(limit.endLimited(Self.time(60_000)) == nil, "the limited state ended too early")
        #expect(limit.endLimited(Self.time(80_000)) == .seconds(80))
        #expect(limit.endLimited(Self.time(90_000)) == nil && limit.limitedSince == nil)
    }

    @Test func aWorkersLimitsAreDividedAmongItsLanes() {
        let limits = PushLimits(inFlightMax: 5, perSecondMax: 6)
        let shares = (0..<3).map { limits.share(ofLane: $0, among: 3) }
        #expect(shares.map(\.inFlightMax) == [2, 2, 1] && shares.allSatisfy { $0.perSecondMax == 2 })
        #expect(PushLimits(inFlightMax: 1).share(ofLane: 2, among: 3) == PushLimits(inFlightMax: 1))
    }

    @Test(arguments: [10, 100])
    func aCampaignWaitsOnceRegardlessOfItsSize(overload: Int) {
        let campaign = LimitedCampaign(.init(limits: PushLimits(perSecondMax: 10)))
        let seconds = 300 / overload * 10
        #expect(campaign.run(perSecond: 10 * overload, seconds: seconds))
        let count = 10 * overload * seconds
        #expect(campaign.pushes.count == count)
        #expect(campaign.trips <= count * 11 / 10, "\(campaign.trips) of \(count)")
        // The campaign is as fast as the limit allows.
        #expect(campaign.seconds < Double(count) / 10 * 1.05)
        expectRate(campaign, perSecond: 10)
        #expect(campaign.waitingMax <= 11)
    }

    // In production, a backlog can last hours and the longest wait is an hour. The test uses minutes.
    @Test func aBacklogBeyondTheLongestWaitWaitsOncePerLongestWait() {
        let waits = [5, 30, 120].map { WaitDelay(seconds: $0) }
        let campaign = LimitedCampaign(
            .init(limits: PushLimits(perSecondMax: 20), schedule: RetrySchedule(waits: waits)))
        let count = 8000
        #expect(campaign.run(perSecond: 2000, seconds: 4))
        #expect(campaign.pushes.count == count)
        // The slots take 400 s.
        #expect(campaign.seconds < 400 * 1.15, "\(campaign.seconds)")
        #expect(campaign.tripsMax <= 5 && campaign.trips < count * 5 / 2, "\(campaign.trips), \(campaign.tripsMax)")
        expectRate(campaign, perSecond: 20)
    }

    // Each lane may receive requests that another lane sent to a wait queue.
    @Test func independentLanesKeepTheRate() {
        let campaign = LimitedCampaign(.init(limits: PushLimits(perSecondMax: 10), lanes: 4))
        #expect(campaign.run(perSecond: 400, seconds: 60))
        let ideal = 400.0 * 60 / 40
        #expect(campaign.seconds < ideal * 1.15, "\(campaign.seconds) for \(ideal)")
        #expect(campaign.trips < 24_000 * 13 / 10, "\(campaign.trips)")
        expectRate(campaign, perSecond: 40, burst: 4 * 2)
    }

    @Test(arguments: [10, 400])
    func pushesInFlightStayAtTheLimitForAnyAnswerTime(answerMilliseconds: Int) {
        let campaign = LimitedCampaign(
            .init(limits: PushLimits(inFlightMax: 5), answer: .milliseconds(answerMilliseconds)))
        let (count, ideal) = (5000, 5000.0 / 5 * Double(answerMilliseconds) / 1000)
        #expect(campaign.run(perSecond: 5000, seconds: 1))
        #expect(campaign.inFlightMax == 5)
        #expect(campaign.seconds < max(ideal * 1.3, ideal + 5), "\(campaign.seconds) for \(ideal)")
        #expect(campaign.trips < 4 * count, "\(campaign.trips)")
    }

    @Test func bothLimitsAreKept() {
        let campaign = LimitedCampaign(
            .init(limits: PushLimits(inFlightMax: 3, perSecondMax: 20), answer: .milliseconds(100)))
        #expect(campaign.run(perSecond: 1000, seconds: 1))
        #expect(campaign.inFlightMax <= 3 && campaign.seconds < 50 * 1.2, "\(campaign.seconds)")
        expectRate(campaign, perSecond: 20)
    }

    @Test func expiredRequestsAreReportedInTime() {
        let campaign = LimitedCampaign(.init(limits: PushLimits(perSecondMax: 10), secondsLeft: 60))
        #expect(campaign.run(perSecond: 1000, seconds: 1))
        #expect(550...650 ~= campaign.pushes.count, "\(campaign.pushes.count)")
        #expect(campaign.pushes.count + campaign.expired == 1000 && campaign.seconds < 65)
    }

    private func expectRate(_ campaign: LimitedCampaign, perSecond rate: Int, burst: Int = 2) {
        for seconds in [1, 10] {
            var first = 0
            var most = 0
            for (index, time) in campaign.pushes.enumerated() {
                while campaign.pushes[first] + .seconds(seconds) <= time { first += 1 }
                most = max(most, index - first + 1)
            }
            #expect(most <= rate * seconds + burst, "\(most) within \(seconds) s")
        }
    }
}
