import AMQP
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A lane all of whose routes are held up, since their keys were revoked; on virtual time.
@Suite struct LaneHoldingTests {
    @Test func theBacklogStaysInItsQueue() throws {
        let scene = try LaneScene()
        scene.rig.onLoop { scene.revoke(0) }
        scene.request(300)
        scene.rig.pass(seconds: 20)
        #expect(!scene.rig.isReady)
        // Besides what was in flight, one message at a time is looked at, after 5 s and growing waits.
        #expect(scene.waits <= LaneRig.inFlightMax + 3)
        #expect(scene.rig.queue()?.ready.count ?? 0 >= 300 - LaneRig.inFlightMax - 3)
        scene.rig.onLoop { scene.restore(0) }
        #expect(scene.rig.run { scene.results == 300 })
        #expect(scene.rig.stops == 1)
    }

    @Test func itIsHeldUpAgainAndAgain() throws {
        let scene = try LaneScene()
        for round in 0..<3 {
            scene.rig.onLoop { scene.revoke(0) }
            scene.request(1, from: round)
            try #require(scene.rig.run { !scene.rig.isReady })
            scene.rig.onLoop { scene.restore(0) }
            try #require(scene.rig.run { scene.rig.isReady && scene.results == round + 1 })
        }
    }

    /// With the first message that shows it, not with the next probe.
    @Test func aRouteThatHasFallenOutOfUseKeepsTheLaneOpenNoLonger() throws {
        let scene = try LaneScene(keys: 2, apps: 2)
        scene.rig.onLoop { scene.revoke(0) }
        scene.request(1, app: 1)
        let used = scene.now
        try #require(scene.rig.run { scene.results == 1 })
        var number = 1
        while scene.rig.isReady && used.duration(to: scene.now) < .seconds(RouteUse.secondsMax + 60) {
            scene.request(1, from: number)
            number += 1
            scene.rig.pass(seconds: 2)
        }
        #expect(used.duration(to: scene.now) <= .seconds(RouteUse.secondsMax + 3))
        #expect(scene.results == 1 && !scene.rig.isReady)
    }

    @Test func oneLookTakesAHundredMessagesAtMost() throws {
        let scene = try twoHeldKeys()
        // All that there is is for one of them.
        scene.request(300, from: 2, app: 1)
        let probes = scene.pushes.count
        #expect(scene.rig.run { scene.waits > 2 + 1 })
        scene.rig.pass(seconds: 3)
        #expect(scene.pushes.count == probes + 1)
        #expect(scene.waits == 2 + 1 + Holding.looksMax)
    }

    /// No other could be published either.
    @Test func aLookWaitsForTheEndOfWhatItTook() throws {
        let scene = try lookUnderAlarm()
        scene.rig.pass(seconds: 60)
        #expect(scene.rig.queue()?.unsettled == 1)
        endAlarm(scene)
        #expect(scene.rig.run { scene.results == 302 })
    }

    @Test func aLookThatWaitsEndsWithItsChannelToo() throws {
        let scene = try lookUnderAlarm()
        scene.rig.onLoop { scene.rig.broker.closeChannels(541, "INTERNAL_ERROR") }
        endAlarm(scene)
        #expect(scene.rig.run { scene.results == 302 })
    }

    /// Its message is not even begun: another's publish is repeated in vain.
    @Test func aLookThatWaitsToBeginEndsWithItsChannel() throws {
        let scene = try twoHeldKeys()
        scene.rig.withLane { $0.backlog.begin() }
        scene.request(2, from: 2, app: 1)
        try #require(scene.rig.run { scene.rig.withLane { $0.consumers[0].bodyBytesInFlight } > 0 })
        scene.rig.onLoop { scene.rig.broker.closeChannels(541, "INTERNAL_ERROR") }
        try #require(scene.rig.run { scene.rig.withLane { $0.consumers[0].bodyBytesInFlight } == 0 })
        scene.rig.withLane { _ = $0.backlog.end() }
        scene.rig.onLoop { for key in 0..<2 { scene.restore(key) } }
        #expect(scene.rig.run { scene.results == 4 })
    }

    @Test func aLookThatWaitsEndsWithTheLane() throws {
        let scene = try lookUnderAlarm()
        scene.rig.drain(deadlineSeconds: 0)
        #expect(scene.rig.run { scene.rig.unfinished == 1 && scene.rig.broker.connectionCount == 0 })
        #expect(scene.rig.letsGo())
    }

    /// Both are to be probed soon.
    private func twoHeldKeys() throws -> LaneScene {
        let scene = try LaneScene(keys: 2, apps: 2)
        scene.rig.onLoop { for key in 0..<2 { scene.revoke(key) } }
        for app in 0..<2 { scene.request(1, from: app, app: app) }
        try #require(scene.rig.run { scene.waits == 2 && !scene.rig.isReady })
        scene.rig.pass(seconds: 1)
        return scene
    }

    /// The broker takes nothing of what becomes of the message that was taken as a probe.
    private func lookUnderAlarm() throws -> LaneScene {
        let scene = try twoHeldKeys()
        scene.rig.onLoop { scene.rig.broker.raiseAlarm("low on memory") }
        scene.request(300, from: 2, app: 1)
        let held = scene.rig.counters.held.value
        try #require(scene.rig.run { scene.rig.counters.held.value == held + 1 })
        return scene
    }

    /// Of the broker, and both keys are good again.
    private func endAlarm(_ scene: LaneScene) {
        scene.rig.onLoop {
            scene.rig.broker.clearAlarm()
            for key in 0..<2 { scene.restore(key) }
        }
    }

    @Test func eachOfSeveralQueuesIsLookedAt() throws {
        let scene = try LaneScene(requestQueues: ["push.requests.urgent", "push.requests.bulk"])
        scene.rig.onLoop { scene.revoke(0) }
        scene.request(1, key: "urgent")
        try #require(scene.rig.run { !scene.rig.isReady })
        scene.request(20, from: 1, key: "bulk")
        scene.rig.pass(seconds: 20)
        #expect(scene.waits > 2)
        scene.rig.onLoop { scene.restore(0) }
        #expect(scene.rig.run { scene.results == 21 })
    }

    @Test func severalQueuesAreLookedAtInTurn() throws {
        let scene = try LaneScene(requestQueues: ["push.requests.urgent", "push.requests.bulk"])
        let queues = scene.rig.names.requestQueues.compactMap { scene.rig.queue($0) }
        scene.rig.onLoop { scene.revoke(0) }
        scene.request(1, key: "urgent")
        try #require(scene.rig.run { !scene.rig.isReady && scene.waits == 1 })
        // By then the broker has heard that no more is wanted.
        scene.rig.loop.enter { [rig = scene.rig] in
            _ = rig.loop.schedule(after: .seconds(1)) {
                for number in 1...10 {
                    rig.publish(LaneScene.message(number, app: 0), key: number % 2 == 0 ? "urgent" : "bulk")
                }
            }
        }
        var depths = [[0, 0]]
        try #require(
            scene.rig.run {
                let now = queues.map(\.ready.count)
                if depths.last != now { depths.append(now) }
                return scene.waits == 3
            })
        #expect(depths == [[0, 0], [5, 5], [4, 5], [4, 4]], "those of the first first")
    }
}
