import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import JSON
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A lane with an app that has more to push than its limits allow, on virtual time.
@Suite struct LaneLimitsTests {
    private static func fixture(
        _ limits: PushLimits, inFlightMax: Int = 100, apps: Int = 2, keys: Int = 1, requestQueues: [String] = [],
        log: Log = .silent
    ) throws -> LaneAPNSHarness {
        try LaneAPNSHarness(
            inFlightMax: inFlightMax, keys: keys, apps: apps, requestQueues: requestQueues, limits: [0: limits],
            log: log)
    }

    /// Returns the arrival time of each request's first push at APNs, in UNIX milliseconds, by request number.
    private static func pushTimes(_ fixture: LaneAPNSHarness) -> [Int: Int64] {
        var times: [Int: Int64] = [:]
        for push in fixture.pushes {
            guard let id = push.apnsID else { continue }
            let number = Int(id.low & 0xFFFF_FFFF_FFFF)
            times[number] = times[number] ?? push.unixMilliseconds
        }
        return times
    }

    private static func results(_ fixture: LaneAPNSHarness) throws -> [JSONValue] {
        try #require(fixture.harness.broker.queue(fixture.harness.names.resultsQueue)).ready.map {
            try JSONDocument($0.body).root
        }
    }

    private static func waitQueues(_ fixture: LaneAPNSHarness) -> [ScriptedQueue] {
        WaitDelay.defaults.flatMap { delay in
            (0..<WaitDelay.siblings).compactMap {
                fixture.harness.broker.queue(fixture.harness.names.waitQueue(delay, sibling: $0))
            }
        }
    }

    @Test(arguments: [[], ["push.requests.urgent", "push.requests.bulk"]])
    func aCampaignDelaysNoOtherApp(requestQueues: [String]) throws {
        let fixture = try Self.fixture(PushLimits(perSecondMax: 10), requestQueues: requestQueues)
        fixture.request(1, from: 50_000, app: 1, key: "urgent")
        try #require(fixture.harness.run { fixture.results == 1 })
        let start = fixture.harness.loop.now.unixMilliseconds
        fixture.request(1000, app: 0, key: "bulk")
        var published: [Int: Int64] = [:]
        for number in 10_000..<10_700 {
            published[number] = fixture.harness.loop.now.unixMilliseconds
            fixture.request(1, from: number, app: 1, key: number % 2 == 0 ? "urgent" : "bulk")
            let next = fixture.now + .milliseconds(100)
            _ = fixture.harness.run { fixture.now >= next }
        }
        try #require(fixture.harness.run { fixture.results == 1701 })

        let pushed = Self.pushTimes(fixture)
        let delays = published.compactMap { number, time in pushed[number].map { $0 - time } }.sorted()
        #expect(delays.count == 700)
        // The other app's first requests may wait in the queue behind the campaign. Its later requests must not wait.
        #expect(delays[693] <= 50 && delays[699] < 1000, "\(delays.suffix(8))")
        let inAMinute = (0..<1000).count { number in pushed[number].map { $0 < start + 60_000 } ?? false }
        #expect(540...660 ~= inAMinute, "\(inAMinute)")
        let results = try Self.results(fixture)
        #expect(results.allSatisfy { $0["outcome"]?.string == "accepted" && $0["attempts"]?.int == 1 })
        #expect(fixture.pushes.count == 1701)
        // A request of the campaign waits at the broker about once on average.
        #expect(fixture.waits < 1100, "\(fixture.waits)")
        #expect(fixture.harness.stops == 0 && fixture.harness.status()?.breakers.isEmpty == true)
        #expect(fixture.harness.counters.held.value == 0 && fixture.harness.counters.requeued.value == 0)
    }

    @Test func pushesInFlightStayWithinTheLimit() throws {
        let fixture = try Self.fixture(PushLimits(inFlightMax: 3))
        fixture.request(200, app: 0)
        fixture.request(20, from: 10_000, app: 1)
        try #require(fixture.harness.run { fixture.results == 220 })
        #expect(fixture.pushes.count == 220)
        let times = Self.pushTimes(fixture).filter { $0.key < 10_000 }.values.sorted()
        // An answer takes 100 ms.
        for (index, time) in times.enumerated() {
            #expect(times[..<index].count { $0 + 95 > time } < 3)
        }
    }

    @Test func waitsForPermitsAreReported() throws {
        let captured = try CapturedLog()
        let fixture = try Self.fixture(PushLimits(perSecondMax: 10), log: captured.log)
        fixture.request(300, app: 0)
        try #require(fixture.harness.run { fixture.results >= 50 })
        let limited = try #require(fixture.harness.status()?.limitedApps.first)
        #expect(limited.bundleID == SimulatedApps.bundleID(0))
        #expect(22...27 ~= limited.secondsBehind && limited.waiting <= 12, "\(limited)")
        #expect(fixture.harness.status()?.state.isReady == true)
        try #require(fixture.harness.run { fixture.results == 300 })
        fixture.harness.pass(seconds: 130)
        #expect(fixture.harness.status()?.limitedApps == [])
        let lines = try captured.lines().map { try JSONDocument($0).root }
        #expect(lines.map { $0["event"]?.string } == ["app.limited", "app.unlimited"], "\(lines)")
        #expect(lines.allSatisfy { $0["message.app"]?.string == SimulatedApps.bundleID(0) })
        let counts = fixture.harness.counters.registry.counts(of: "martlet_app_limited_total")
        let atBroker = counts.first { $0.labels.contains { $0.value == "broker" } }?.count ?? 0
        #expect(250..<300 ~= atBroker && atBroker == fixture.waits, "\(counts)")
        #expect(counts.allSatisfy { $0.labels.contains { $0.value == SimulatedApps.bundleID(0) } })
    }

    @Test func aWaitingRequestHasTheReasonAndNoAttempt() throws {
        let fixture = try Self.fixture(PushLimits(perSecondMax: 1), inFlightMax: 10)
        fixture.request(20, app: 0)
        let queues = Self.waitQueues(fixture)
        var reasons: Set<String> = []
        try #require(
            fixture.harness.run {
                for message in queues.flatMap(\.ready) {
                    let text = message.properties.header("push-reason-code")?.stringValue ?? "-"
                    reasons.insert("\(text) \(message.properties.header("push-attempt")?.integerValue ?? -1)")
                }
                return fixture.results == 20
            })
        #expect(reasons == ["held-app-limit 0"])
    }

    /// Requests that wait for a permit do not count as held.
    @Test func aLimitedAppDoesNotStopConsumption() throws {
        let fixture = try Self.fixture(PushLimits(perSecondMax: 1), apps: 1)
        fixture.request(40, app: 0)
        fixture.harness.pass(seconds: 30)
        #expect(fixture.harness.stops == 0 && fixture.harness.queue()?.ready.isEmpty == true)
        #expect(fixture.harness.run { fixture.results == 40 })
    }

    // The broker delivers the request again, perhaps to another worker.
    @Test func aRequestThatLosesItsChannelWhileWaitingIsNotPushed() throws {
        let fixture = try Self.fixture(PushLimits(inFlightMax: 1), inFlightMax: 10, apps: 1)
        fixture.request(2)
        try #require(fixture.harness.run { fixture.pushes.count == 1 })
        #expect(fixture.harness.withLane { $0.pipeline.permits.limits[0]?.waitingCount } == 1)
        fixture.harness.onLoop { fixture.harness.broker.crash() }
        fixture.harness.pass(seconds: 30)
        #expect(fixture.pushes.count == 1)
        #expect(
            fixture.harness.withLane {
                [$0.pipeline.permits.limits[0]?.inFlight, $0.pipeline.permits.limits[0]?.waitingCount]
            } == [0, 0])
        #expect(fixture.harness.counters.inFlight.value == 1, "a lost delivery still counts as in flight")
    }

    /// A request that an open breaker holds uses no permit, and moves to a wait queue as a held request.
    @Test func aHeldRequestUsesNoPermit() throws {
        let fixture = try Self.fixture(PushLimits(inFlightMax: 1, perSecondMax: 2), keys: 2)
        fixture.harness.onLoop { fixture.revoke(0) }
        fixture.request(30, app: 0)
        fixture.request(5, from: 1000, app: 1)
        fixture.harness.pass(seconds: 100)
        #expect(fixture.harness.status()?.breakers.count == 1 && fixture.harness.counters.held.value > 0)
        fixture.harness.onLoop { fixture.restore(0) }
        #expect(fixture.harness.run { fixture.results == 35 })
        #expect(fixture.pushes.count { $0.status == 200 } == 35)
        #expect(fixture.harness.deadLetters.isEmpty)
    }

    // Each push ends immediately, and its end grants the next permit. Thousands of grants must not recurse.
    @Test func permitsThatEndImmediatelyAreGrantedWithoutRecursion() throws {
        let count = 4000
        let fixture = try Self.fixture(PushLimits(inFlightMax: 1000), inFlightMax: 8 * count, keys: 2)
        fixture.harness.onLoop { fixture.revoke(0) }
        fixture.request(count, app: 0)
        try #require(fixture.harness.run { fixture.harness.counters.held.value == count })
        let counts = fixture.harness.counters.registry.counts(of: "martlet_app_limited_total")
        let inLane = counts.first { $0.labels.contains { $0.value == "worker" } }?.count ?? 0
        #expect(inLane > count / 2, "\(counts)")
    }

    @Test func aRequestWithOneAttemptWaitsOnlyForANearSlot() throws {
        let fixture = try Self.fixture(PushLimits(perSecondMax: 5))
        for number in 0..<30 {
            fixture.harness.request(
                LaneAPNSHarness.message(number, app: 0).replacing(#""push_type""#, with: #""expiration":0,"push_type""#)
            )
        }
        try #require(fixture.harness.run { fixture.results == 30 })
        let outcomes = try Self.results(fixture).map { $0["outcome"]?.string }
        #expect(5...8 ~= outcomes.count { $0 == "accepted" })
        #expect(outcomes.allSatisfy { $0 == "accepted" || $0 == "expired" })
        #expect(fixture.waits == 0 && fixture.harness.deadLetters.isEmpty)
    }

    @Test func aDrainRequeuesRequestsThatWaitForAPermit() throws {
        let fixture = try Self.fixture(PushLimits(perSecondMax: 2), inFlightMax: 40)
        fixture.request(4, app: 0)
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.drain(deadlineSeconds: 30)
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 })
        let waiting = Self.waitQueues(fixture).reduce(0) { $0 + $1.ready.count }
        #expect(fixture.results + waiting + (fixture.harness.queue()?.ready.count ?? 0) == 4)
        #expect(fixture.harness.queue()?.ready.count == 2)
        // Both requests are requeued only once, since the draining lane does not receive them again.
        #expect(fixture.harness.broker.requeued == 2)
    }

    /// Lanes of a replaced configuration finish the requests that wait in the lane.
    @Test func aLeavingLaneFinishesRequestsThatWaitForAPermit() throws {
        let fixture = try Self.fixture(PushLimits(perSecondMax: 2), inFlightMax: 40)
        fixture.request(3, app: 0)
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.leave()
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 })
        #expect(fixture.results == 3 && fixture.harness.broker.requeued == 0)
    }

    /// The limits apply to the worker, so each of two lanes has half of the limits.
    @Test func lanesShareTheLimits() throws {
        let fixture = try LaneAPNSHarness(
            lanes: 2, inFlightMax: 100, apps: 1, limits: [0: PushLimits(perSecondMax: 20)])
        fixture.request(600, app: 0)
        let start = fixture.harness.loop.now.unixMilliseconds
        try #require(fixture.harness.run { fixture.results == 600 })
        let times = Self.pushTimes(fixture).values.map { $0 - start }
        #expect(times.count { $0 < 20_000 } <= 20 * 20 + 4)
        #expect(times.count { $0 < 20_000 } > 10 * 20 + 2, "only one lane pushed")
        // A lane that received all requests would need a minute.
        #expect(times.max() ?? 0 <= 60_000)
    }
}
