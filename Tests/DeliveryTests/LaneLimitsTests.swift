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

/// A lane with an app that has more to push than its limits allow; on virtual time.
@Suite struct LaneLimitsTests {
    private static func scene(
        _ limits: PushLimits, inFlightMax: Int = 100, apps: Int = 2, keys: Int = 1, requestQueues: [String] = [],
        log: Log = .silent
    ) throws -> LaneAPNSHarness {
        try LaneAPNSHarness(
            inFlightMax: inFlightMax, keys: keys, apps: apps, requestQueues: requestQueues, limits: [0: limits],
            log: log)
    }

    /// When the first push of a message came to APNs.
    private static func pushTimes(_ scene: LaneAPNSHarness) -> [Int: Int64] {
        var times: [Int: Int64] = [:]
        for push in scene.pushes {
            guard let id = push.apnsID else { continue }
            let number = Int(id.low & 0xFFFF_FFFF_FFFF)
            times[number] = times[number] ?? push.unixMilliseconds
        }
        return times
    }

    private static func results(_ scene: LaneAPNSHarness) throws -> [JSONValue] {
        try #require(scene.harness.broker.queue(scene.harness.names.resultsQueue)).ready.map {
            try JSONDocument($0.body).root
        }
    }

    private static func waitQueues(_ scene: LaneAPNSHarness) -> [ScriptedQueue] {
        WaitDelay.defaults.flatMap { delay in
            (0..<WaitDelay.siblings).compactMap {
                scene.harness.broker.queue(scene.harness.names.waitQueue(delay, sibling: $0))
            }
        }
    }

    @Test(arguments: [[], ["push.requests.urgent", "push.requests.bulk"]])
    func aCampaignHurtsNoOtherApp(requestQueues: [String]) throws {
        let scene = try Self.scene(PushLimits(perSecondMax: 10), requestQueues: requestQueues)
        scene.request(1, from: 50_000, app: 1, key: "urgent")
        try #require(scene.harness.run { scene.results == 1 })
        let start = scene.harness.loop.now.unixMilliseconds
        scene.request(1000, app: 0, key: "bulk")
        var published: [Int: Int64] = [:]
        for number in 10_000..<10_700 {
            published[number] = scene.harness.loop.now.unixMilliseconds
            scene.request(1, from: number, app: 1, key: number % 2 == 0 ? "urgent" : "bulk")
            let next = scene.now + .milliseconds(100)
            _ = scene.harness.run { scene.now >= next }
        }
        try #require(scene.harness.run { scene.results == 1701 })

        let pushed = Self.pushTimes(scene)
        let delays = published.compactMap { number, time in pushed[number].map { $0 - time } }.sorted()
        #expect(delays.count == 700)
        // The first stands behind the campaign; none waits for a turn of it.
        #expect(delays[693] <= 50 && delays[699] < 1000, "\(delays.suffix(8))")
        let inAMinute = (0..<1000).count { number in pushed[number].map { $0 < start + 60_000 } ?? false }
        #expect(540...660 ~= inAMinute, "\(inAMinute)")
        let results = try Self.results(scene)
        #expect(results.allSatisfy { $0["outcome"]?.string == "accepted" && $0["attempts"]?.int == 1 })
        #expect(scene.pushes.count == 1701)
        // Each waited once at the broker, but for some whose turn was near.
        #expect(scene.waits < 1100, "\(scene.waits)")
        #expect(scene.harness.stops == 0 && scene.harness.status()?.breakers.isEmpty == true)
        #expect(scene.harness.counters.held.value == 0 && scene.harness.counters.requeued.value == 0)
    }

    @Test func noMorePushesAreInFlightThanMayBe() throws {
        let scene = try Self.scene(PushLimits(inFlightMax: 3))
        scene.request(200, app: 0)
        scene.request(20, from: 10_000, app: 1)
        try #require(scene.harness.run { scene.results == 220 })
        #expect(scene.pushes.count == 220)
        let times = Self.pushTimes(scene).filter { $0.key < 10_000 }.values.sorted()
        // An answer takes 100 ms.
        for (index, time) in times.enumerated() {
            #expect(times[..<index].count { $0 + 95 > time } < 3)
        }
    }

    @Test func itIsSaidWhatWaitsForItsTurn() throws {
        let captured = try CapturedLog()
        let scene = try Self.scene(PushLimits(perSecondMax: 10), log: captured.log)
        scene.request(300, app: 0)
        try #require(scene.harness.run { scene.results >= 50 })
        let limited = try #require(scene.harness.status()?.limitedApps.first)
        #expect(limited.bundleID == SimulatedApps.bundleID(0))
        #expect(22...27 ~= limited.secondsBehind && limited.waiting <= 12, "\(limited)")
        #expect(scene.harness.status()?.state.isReady == true)
        try #require(scene.harness.run { scene.results == 300 })
        scene.harness.pass(seconds: 130)
        #expect(scene.harness.status()?.limitedApps == [])
        let lines = try captured.lines().map { try JSONDocument($0).root }
        #expect(lines.map { $0["event"]?.string } == ["app.limited", "app.unlimited"], "\(lines)")
        #expect(lines.allSatisfy { $0["message.app"]?.string == SimulatedApps.bundleID(0) })
        let counts = scene.harness.counters.registry.counts(of: "martlet_app_limited_total")
        let atBroker = counts.first { $0.labels.contains { $0.value == "broker" } }?.count ?? 0
        #expect(250..<300 ~= atBroker && atBroker == scene.waits, "\(counts)")
        #expect(counts.allSatisfy { $0.labels.contains { $0.value == SimulatedApps.bundleID(0) } })
    }

    @Test func whatWaitsSaysWhyAndForHowLong() throws {
        let scene = try Self.scene(PushLimits(perSecondMax: 1), inFlightMax: 10)
        scene.request(20, app: 0)
        let queues = Self.waitQueues(scene)
        var reasons: Set<String> = []
        try #require(
            scene.harness.run {
                for message in queues.flatMap(\.ready) {
                    let text = message.properties.header("push-reason-code")?.stringValue ?? "-"
                    reasons.insert("\(text) \(message.properties.header("push-attempt")?.integerValue ?? -1)")
                }
                return scene.results == 20
            })
        #expect(reasons == ["held-app-limit 0"])
    }

    /// What is in flight for it alone does not count as held up.
    @Test func aLimitedAppStopsNobody() throws {
        let scene = try Self.scene(PushLimits(perSecondMax: 1), apps: 1)
        scene.request(40, app: 0)
        scene.harness.pass(seconds: 30)
        #expect(scene.harness.stops == 0 && scene.harness.queue()?.ready.isEmpty == true)
        #expect(scene.harness.run { scene.results == 40 })
    }

    /// The broker delivers it again, perhaps to another worker.
    @Test func whatLosesItsChannelWhileItWaitsForItsTurnIsNotPushed() throws {
        let scene = try Self.scene(PushLimits(inFlightMax: 1), inFlightMax: 10, apps: 1)
        scene.request(2)
        try #require(scene.harness.run { scene.pushes.count == 1 })
        #expect(scene.harness.withLane { $0.pipeline.permits.limits[0]?.waitingCount } == 1)
        scene.harness.onLoop { scene.harness.broker.crash() }
        scene.harness.pass(seconds: 30)
        #expect(scene.pushes.count == 1)
        #expect(
            scene.harness.withLane {
                [$0.pipeline.permits.limits[0]?.inFlight, $0.pipeline.permits.limits[0]?.waitingCount]
            } == [0, 0])
        #expect(scene.harness.counters.inFlight.value == 1, "the first, whose result nobody takes")
    }

    /// What an open breaker holds up takes no turn, and its own way.
    @Test func whatIsHeldUpTakesNoTurn() throws {
        let scene = try Self.scene(PushLimits(inFlightMax: 1, perSecondMax: 2), keys: 2)
        scene.harness.onLoop { scene.revoke(0) }
        scene.request(30, app: 0)
        scene.request(5, from: 1000, app: 1)
        scene.harness.pass(seconds: 100)
        #expect(scene.harness.status()?.breakers.count == 1 && scene.harness.counters.held.value > 0)
        scene.harness.onLoop { scene.restore(0) }
        #expect(scene.harness.run { scene.results == 35 })
        #expect(scene.pushes.count { $0.status == 200 } == 35)
        #expect(scene.harness.deadLetters.isEmpty)
    }

    /// Each has its turn when the one before it has ended, which it does at once: however many there are, one after the other.
    @Test func whoeverWaitsForATurnThatEndsAtOnceIsCalledAfterTheOther() throws {
        let count = 4000
        let scene = try Self.scene(PushLimits(inFlightMax: 1000), inFlightMax: 8 * count, keys: 2)
        scene.harness.onLoop { scene.revoke(0) }
        scene.request(count, app: 0)
        try #require(scene.harness.run { scene.harness.counters.held.value == count })
        let counts = scene.harness.counters.registry.counts(of: "martlet_app_limited_total")
        let here = counts.first { $0.labels.contains { $0.value == "worker" } }?.count ?? 0
        #expect(here > count / 2, "\(counts)")
    }

    @Test func oneTryWaitsForANearTurnAlone() throws {
        let scene = try Self.scene(PushLimits(perSecondMax: 5))
        for number in 0..<30 {
            scene.harness.request(
                LaneAPNSHarness.message(number, app: 0).replacing(#""push_type""#, with: #""expiration":0,"push_type""#)
            )
        }
        try #require(scene.harness.run { scene.results == 30 })
        let outcomes = try Self.results(scene).map { $0["outcome"]?.string }
        #expect(5...8 ~= outcomes.count { $0 == "accepted" })
        #expect(outcomes.allSatisfy { $0 == "accepted" || $0 == "expired" })
        #expect(scene.waits == 0 && scene.harness.deadLetters.isEmpty)
    }

    @Test func whoWaitsForATurnIsGivenBackByADrain() throws {
        let scene = try Self.scene(PushLimits(perSecondMax: 2), inFlightMax: 40)
        scene.request(4, app: 0)
        try #require(scene.harness.run { scene.results == 1 })
        scene.harness.drain(deadlineSeconds: 30)
        #expect(scene.harness.run { scene.harness.unfinished == 0 })
        let waiting = Self.waitQueues(scene).reduce(0) { $0 + $1.ready.count }
        #expect(scene.results + waiting + (scene.harness.queue()?.ready.count ?? 0) == 4)
        #expect(scene.harness.queue()?.ready.count == 2)
        // Once each: they did not come to this lane again.
        #expect(scene.harness.broker.requeued == 2)
    }

    /// Lanes of a configuration before finish what waits here.
    @Test func whoWaitsForATurnIsFinishedByALaneThatLeaves() throws {
        let scene = try Self.scene(PushLimits(perSecondMax: 2), inFlightMax: 40)
        scene.request(3, app: 0)
        try #require(scene.harness.run { scene.results == 1 })
        scene.harness.leave()
        #expect(scene.harness.run { scene.harness.unfinished == 0 })
        #expect(scene.results == 3 && scene.harness.broker.requeued == 0)
    }

    /// The limits are the worker's, so two lanes have half of them each.
    @Test func lanesShareTheLimits() throws {
        let scene = try LaneAPNSHarness(lanes: 2, inFlightMax: 100, apps: 1, limits: [0: PushLimits(perSecondMax: 20)])
        scene.request(600, app: 0)
        let start = scene.harness.loop.now.unixMilliseconds
        try #require(scene.harness.run { scene.results == 600 })
        let times = Self.pushTimes(scene).values.map { $0 - start }
        #expect(times.count { $0 < 20_000 } <= 20 * 20 + 4)
        #expect(times.count { $0 < 20_000 } > 10 * 20 + 2, "more than one lane may push")
        // A lane alone, which may get most of them, needs a minute.
        #expect(times.max() ?? 0 <= 60_000)
    }
}
