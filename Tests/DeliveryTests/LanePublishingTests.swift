import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import EventLoop
import JSON
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A lane that cannot publish what became of its messages, on virtual time.
@Suite struct LanePublishingTests {
    @Test func itTakesNoMoreAfterTheFourthTryAndSaysWhy() throws {
        let log = try CapturedLog()
        let rig = try LaneHarness(log: log.log)
        try #require(rig.run { rig.isReady })
        rig.onLoop { rig.broker.behaviour.nackPercent = 100 }
        rig.request("not JSON")
        #expect(rig.run { rig.counters.publishRepeats.value == 3 })
        #expect(rig.isReady)
        #expect(log.lines().count { $0.contains("cannot be published") } == 0)
        #expect(rig.run { rig.counters.publishRepeats.value == 4 })
        #expect(!rig.isReady)
        #expect(
            rig.publishingFailure
                == "exchange push.dead: a queue is full, or refuses it: have it read, or raise its limit "
                + "(rabbitmqctl list_policies)")
        rig.onLoop { rig.broker.behaviour.nackPercent = 0 }
        #expect(rig.run { rig.isReady && rig.counters.count(of: .invalid) == 1 })
        #expect(rig.publishingFailure == nil && rig.deadLetters.count == 1)
        #expect(log.lines().count { $0.contains("published") } == 2, "that it cannot be, and that it is again")
        let publishes = rig.counters.registry.counts(of: "martlet_publish_total").map(\.count)
        #expect(publishes.sorted() == [2, 4], "the dead letter after four tries, and the result")
    }

    @Test func whatIsOutWithTheLastOfThoseTriesEndsNoOutage() throws {
        let rig = try LaneHarness()
        try #require(rig.run { rig.isReady })
        for (count, repeats) in [3, 4].enumerated() {
            let before = rig.counters.publishRepeats.value
            rig.onLoop { rig.broker.behaviour.nackPercent = 100 }
            rig.request("not JSON")
            try #require(rig.run { rig.counters.publishRepeats.value == before + repeats })
            #expect(rig.isReady == (repeats == 3))
            rig.onLoop { rig.broker.behaviour.nackPercent = 0 }
            #expect(rig.run { rig.isReady && rig.counters.count(of: .invalid) == count + 1 })
        }
    }

    @Test func itTakesNoMoreUntilTheLastOfThemIsOut() throws {
        let scene = try LaneAPNSHarness()
        let (rig, names) = (scene.rig, scene.rig.names)
        rig.onLoop {
            rig.broker.behaviour.nackPercent = 100
            rig.broker.deleteQueue(names.deadQueue)
        }
        scene.request(1)
        rig.request("not JSON")
        try #require(rig.run { rig.counters.publishRepeats.value >= 12 })
        rig.onLoop { rig.broker.behaviour.nackPercent = 0 }
        #expect(rig.run { scene.results == 1 })
        rig.pass(seconds: 60)
        #expect(!rig.isReady)
        rig.mendTopology()
        #expect(rig.run { rig.isReady })
        #expect(rig.deadLetters.count == 1)
    }

    @Test func itTakesNoMoreThoughAnotherIsOutAfterAFewTries() throws {
        let scene = try LaneAPNSHarness()
        let (rig, names) = (scene.rig, scene.rig.names)
        rig.onLoop {
            rig.broker.behaviour.nackPercent = 100
            rig.broker.deleteQueue(names.deadQueue)
        }
        rig.request("not JSON")
        try #require(rig.run { rig.counters.publishRepeats.value == 3 })
        scene.request(1)
        try #require(rig.run { !rig.isReady })
        #expect(rig.counters.publishRepeats.value > 4)
        rig.onLoop { rig.broker.behaviour.nackPercent = 0 }
        #expect(rig.run { scene.results == 1 })
        rig.pass(seconds: 60)
        #expect(!rig.isReady)
        rig.mendTopology()
        #expect(rig.run { rig.isReady && scene.results == 2 })
    }

    /// The broker hears a moment later that no more is wanted.
    @Test func whatComesMeanwhileIsNotPushedUntilItIsOut() throws {
        let scene = try LaneAPNSHarness()
        let (rig, names) = (scene.rig, scene.rig.names)
        rig.onLoop { rig.broker.deleteQueue(names.deadQueue) }
        rig.request("not JSON")
        try #require(rig.run { !rig.isReady })
        scene.request(1)
        rig.pass(seconds: 60)
        #expect(rig.queue()?.ready.count == 0 && scene.pushes.count == 0)
        rig.mendTopology()
        #expect(rig.run { rig.isReady && scene.results == 2 && scene.pushes.count == 1 })
    }

    /// Loses the connection that what the request leads to was published on, before it is confirmed.
    private func cutPublishing(of rig: LaneHarness, after request: () -> Void, once isThere: () -> Bool) throws {
        let before = rig.connections.map(\.deliveredToServer)
        request()
        try #require(rig.run { isThere() })
        let publishing = try #require(zip(rig.connections, before).first { $0.deliveredToServer > $1 }).0
        rig.onLoop { publishing.cut() }
    }

    /// What was not pushed is not said to have been, however often its dead letter comes.
    @Test func aDeadLetterThatComesTwiceIsTheSame() throws {
        let rig = try LaneHarness()
        try #require(rig.run { rig.isReady })
        rig.onLoop { rig.broker.behaviour.confirmDelayMilliseconds = 20_000...20_000 }
        try cutPublishing(of: rig, after: { rig.request("not JSON") }, once: { rig.deadLetters.count == 1 })
        #expect(rig.run { rig.deadLetters.count == 2 })
        #expect(rig.deadLetters.map { $0.properties.header("push-possible-duplicate") } == [false, false])
        #expect(rig.deadLetters[0].body == rig.deadLetters[1].body)
        #expect(rig.deadLetters[0].properties.headers == rig.deadLetters[1].properties.headers)
    }

    /// Its times are those of the first, though it is made anew.
    @Test func aResultThatComesTwiceIsTheSame() throws {
        let scene = try LaneAPNSHarness()
        let rig = scene.rig
        rig.onLoop { rig.broker.behaviour.confirmDelayMilliseconds = 20_000...20_000 }
        var results: [ScriptedMessage] = []
        rig.broker.onAppend = { queue, message in
            if queue.name == rig.names.resultsQueue { results.append(message) }
        }
        try cutPublishing(of: rig, after: { scene.request(1) }, once: { results.count == 1 })
        #expect(rig.run { results.count == 2 })
        rig.broker.onAppend = { _, _ in }
        #expect(results[0].body == results[1].body)
        #expect(results[0].properties.messageID == results[1].properties.messageID)
        #expect(results[0].properties.headers == results[1].properties.headers)
    }

    /// Not when its dead letter was confirmed.
    @Test func itFinishedWhenItsOutcomeWasKnown() throws {
        let rig = try LaneHarness()
        try #require(rig.run { rig.isReady })
        rig.onLoop { rig.broker.behaviour.confirmDelayMilliseconds = 5000...5000 }
        rig.request("not JSON")
        try #require(rig.run { rig.broker.queue(rig.names.resultsQueue)?.ready.count == 1 })
        let result = try #require(rig.broker.queue(rig.names.resultsQueue)?.ready.first)
        let finished = try JSONDocument(result.body).root["finished_at"]?.int64
        #expect(finished != nil)
        #expect(rig.deadLetters.first?.properties.header("push-failed-at")?.integerValue == finished)
    }

    /// Two workers may get one of the two each, and both push it.
    @Test func whatIsToBePushedAgainAndComesTwiceSaysThatItMayHaveBeenPushed() throws {
        let scene = try LaneAPNSHarness()
        let rig = scene.rig
        try rig.onLoop {
            try scene.apns.faults.put(Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
            rig.broker.behaviour.confirmDelayMilliseconds = 20_000...20_000
        }
        var waiting: [FieldTable] = []
        var queues: Set<String> = []
        rig.broker.onAppend = { queue, message in
            guard queue.name.hasPrefix("push.wait."), let headers = message.properties.headers else { return }
            waiting.append(headers)
            queues.insert(queue.name)
        }
        try cutPublishing(of: rig, after: { scene.request(1) }, once: { waiting.count == 1 })
        try #require(rig.run { waiting.count == 2 })
        rig.broker.onAppend = { _, _ in }
        let name = "push-possible-duplicate"
        #expect(waiting.map { $0[name] } == [false, true])
        #expect(waiting[0].entries.filter { $0.name != name } == waiting[1].entries.filter { $0.name != name })
        #expect(queues.count == 1)
    }

    /// The producer's headers and the worker's together are more than a frame holds.
    @Test func headersThatDoNotFitAreLeftOut() throws {
        let rig = try LaneHarness()
        rig.broker.behaviour.frameBytesMax = 4096
        try #require(rig.run { rig.isReady })
        rig.request("not JSON", headers: ["note": .string(String(repeating: "x", count: 3800))])
        #expect(rig.run { rig.counters.count(of: .invalid) == 1 })
        let dead = try #require(rig.deadLetters.first?.properties)
        #expect(dead.header("note") == nil && dead.header("push-reason-class") == "json")
    }

    /// Neither its dead letter nor its result.
    @Test func whatCannotBePublishedAtAllIsMovedByTheBrokerAndSaid() throws {
        let log = try CapturedLog()
        let rig = try LaneHarness(publishedBytesMax: 4, log: log.log)
        try #require(rig.run { rig.isReady })
        rig.request("not JSON")
        #expect(rig.run { rig.deadLetters.count == 1 && rig.counters.rejected.value == 1 })
        #expect(rig.counters.publishRepeats.value == 0 && rig.isReady)
        #expect(log.lines().count { $0.contains("a message cannot be published at all") } == 2)
    }

    @Test func whatIsNotConfirmedByTheEndIsNotRepeated() throws {
        let rig = try LaneHarness()
        try #require(rig.run { rig.isReady })
        rig.onLoop { rig.broker.behaviour.confirmDelayMilliseconds = 20_000...20_000 }
        rig.request("not JSON")
        try #require(rig.run { rig.deadLetters.count == 1 })
        rig.drain(deadlineSeconds: 1)
        #expect(rig.run { rig.unfinished == 1 && rig.counters.requeued.value == 1 })
        #expect(rig.counters.publishRepeats.value == 0)
    }

    @Test func whatWasNotPublishedIsNotCounted() throws {
        let rig = try LaneHarness()
        try #require(rig.run { rig.isReady })
        rig.onLoop { rig.broker.behaviour.nackPercent = 100 }
        rig.request("not JSON")
        #expect(rig.run { rig.counters.publishRepeats.value >= 1 })
        rig.drain(deadlineSeconds: 1)
        #expect(rig.run { rig.unfinished == 1 && rig.counters.requeued.value == 1 })
        #expect(rig.counters.registry.count(of: "martlet_dead_total") == 0 && rig.counters.count(of: .invalid) == 0)
    }

    /// Its loop ends with it: what waited on would never be told, and the other would take for a copy of it what comes again.
    @Test func whatWaitsToBePublishedAgainGoesBackBeforeTheLaneHasEnded() throws {
        let scene = try LaneAPNSHarness(lanes: 2)
        let rig = scene.rig
        rig.onLoop { rig.broker.behaviour.nackPercent = 100 }
        scene.request(2)
        // The next pauses are longer than the drain.
        try #require(rig.run { rig.counters.publishRepeats.value == 2 * 8 })
        rig.drain(0, deadlineSeconds: 1)
        #expect(rig.run { rig.ended == 1 })
        #expect(rig.counters.requeued.value == 1 && rig.counters.inFlight.value == 1)
        rig.onLoop { rig.broker.behaviour.nackPercent = 0 }
        #expect(rig.run { scene.results == 2 })
        #expect(scene.pushes.count == 3)
        rig.drain(1, deadlineSeconds: 30)
        #expect(rig.run { rig.unfinished == 1 })
    }

    @Test func whatWaitsToBePublishedAgainIsUnfinishedThoughTheBrokerIsSilent() throws {
        let rig = try LaneHarness()
        try #require(rig.run { rig.isReady })
        rig.onLoop { rig.broker.behaviour.nackPercent = 100 }
        rig.request("not JSON")
        try #require(rig.run { rig.counters.publishRepeats.value == 8 })
        rig.onLoop { rig.broker.setSilent(true) }
        rig.drain(deadlineSeconds: 1)
        #expect(rig.run { rig.unfinished == 1 })
    }

    @Test func whatWasNotPublishedToWaitIsNotCountedAsThat() throws {
        let scene = try LaneAPNSHarness()
        let rig = scene.rig
        try rig.onLoop {
            try scene.apns.faults.put(Fault(id: "busy", action: .answer(.refused(.tooManyRequests))))
            rig.broker.behaviour.nackPercent = 100
        }
        scene.request(1)
        #expect(rig.run { rig.counters.publishRepeats.value >= 1 })
        rig.drain(deadlineSeconds: 1)
        #expect(rig.run { rig.unfinished == 1 && rig.counters.requeued.value == 1 })
        #expect(scene.pushes.count == 1 && scene.waits == 0)
    }
}
