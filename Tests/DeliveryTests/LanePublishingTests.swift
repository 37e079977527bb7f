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

/// A lane that cannot publish outcomes, on virtual time.
@Suite struct LanePublishingTests {
    @Test func aLaneStopsConsumingAfterTheFourthPublishAndReportsWhy() throws {
        let log = try CapturedLog()
        let harness = try LaneHarness(log: log.log)
        try #require(harness.run { harness.isReady })
        harness.onLoop { harness.broker.behavior.nackPercent = 100 }
        harness.request("not JSON")
        #expect(harness.run { harness.counters.publishRepeats.value == 3 })
        #expect(harness.isReady)
        #expect(log.lines().count { $0.contains("publishing blocked") } == 0)
        #expect(harness.run { harness.counters.publishRepeats.value == 4 })
        #expect(!harness.isReady)
        #expect(
            harness.publishingFailure
                == "exchange push.dead: a queue is full or refuses the message: consume from the queue, or raise its "
                + "limit; to list policies, run: rabbitmqctl list_policies")
        harness.onLoop { harness.broker.behavior.nackPercent = 0 }
        #expect(harness.run { harness.isReady && harness.counters.count(of: .invalid) == 1 })
        #expect(harness.publishingFailure == nil && harness.deadLetters.count == 1)
        #expect(log.lines().count { $0.contains("publishing ") } == 2, "failure and recovery are not logged once each")
        let publishes = harness.counters.registry.counts(of: "martlet_publish_total").map(\.count)
        #expect(publishes.sorted() == [2, 4], "the counts of publishes differ")
    }

    @Test func aPublishThatSucceedsAtTheLastRepeatEndsNoOutage() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        for (count, repeats) in [3, 4].enumerated() {
            let before = harness.counters.publishRepeats.value
            harness.onLoop { harness.broker.behavior.nackPercent = 100 }
            harness.request("not JSON")
            try #require(harness.run { harness.counters.publishRepeats.value == before + repeats })
            #expect(harness.isReady == (repeats == 3))
            harness.onLoop { harness.broker.behavior.nackPercent = 0 }
            #expect(harness.run { harness.isReady && harness.counters.count(of: .invalid) == count + 1 })
        }
    }

    @Test func aLaneConsumesAgainAfterTheLastStuckPublish() throws {
        let fixture = try LaneAPNSHarness()
        let (harness, names) = (fixture.harness, fixture.harness.names)
        harness.onLoop {
            harness.broker.behavior.nackPercent = 100
            harness.broker.deleteQueue(names.deadQueue)
        }
        fixture.request(1)
        harness.request("not JSON")
        try #require(harness.run { harness.counters.publishRepeats.value >= 12 })
        harness.onLoop { harness.broker.behavior.nackPercent = 0 }
        #expect(harness.run { fixture.results == 1 })
        harness.pass(seconds: 60)
        #expect(!harness.isReady)
        harness.mendTopology()
        #expect(harness.run { harness.isReady })
        #expect(harness.deadLetters.count == 1)
    }

    @Test func anotherRepeatedPublishDoesNotResumeConsumption() throws {
        let fixture = try LaneAPNSHarness()
        let (harness, names) = (fixture.harness, fixture.harness.names)
        harness.onLoop {
            harness.broker.behavior.nackPercent = 100
            harness.broker.deleteQueue(names.deadQueue)
        }
        harness.request("not JSON")
        try #require(harness.run { harness.counters.publishRepeats.value == 3 })
        fixture.request(1)
        try #require(harness.run { !harness.isReady })
        #expect(harness.counters.publishRepeats.value > 4)
        harness.onLoop { harness.broker.behavior.nackPercent = 0 }
        #expect(harness.run { fixture.results == 1 })
        harness.pass(seconds: 60)
        #expect(!harness.isReady)
        harness.mendTopology()
        #expect(harness.run { harness.isReady && fixture.results == 2 })
    }

    // The broker learns slightly later that the lane stopped consuming, so it still sends deliveries.
    @Test func deliveriesAreParkedWhilePublishesAreStuck() throws {
        let fixture = try LaneAPNSHarness()
        let (harness, names) = (fixture.harness, fixture.harness.names)
        harness.onLoop { harness.broker.deleteQueue(names.deadQueue) }
        harness.request("not JSON")
        try #require(harness.run { !harness.isReady })
        fixture.request(1)
        harness.pass(seconds: 60)
        #expect(harness.queue()?.ready.count == 0 && fixture.pushes.count == 0)
        harness.mendTopology()
        #expect(harness.run { harness.isReady && fixture.results == 2 && fixture.pushes.count == 1 })
    }

    @Test func aFinishingLaneDoesNotConsumeWhenPublishingResumes() throws {
        let fixture = try LaneAPNSHarness()
        let (harness, names) = (fixture.harness, fixture.harness.names)
        harness.onLoop { harness.broker.deleteQueue(names.deadQueue) }
        harness.request("not JSON")
        try #require(harness.run { !harness.isReady })
        harness.finish(deadlineSeconds: 600)
        harness.pass(seconds: 1)
        fixture.request(3)
        harness.mendTopology()
        #expect(harness.run { harness.hasFinished })
        harness.pass(seconds: 5)
        #expect(fixture.results == 1 && fixture.pushes.isEmpty && harness.queue()?.ready.count == 3)
    }

    @Test func parkedDeliveriesAreRequeuedByADrain() throws {
        let fixture = try LaneAPNSHarness()
        let (harness, names) = (fixture.harness, fixture.harness.names)
        harness.onLoop { harness.broker.deleteQueue(names.deadQueue) }
        harness.request("not JSON")
        try #require(harness.run { !harness.isReady })
        fixture.request(1)
        harness.pass(seconds: 1)
        #expect(harness.queue()?.unsettled == 2, "the second delivery is not parked")
        harness.drain(deadlineSeconds: 1)
        #expect(harness.run { harness.unfinished == 1 })
        #expect(harness.queue()?.ready.count == 2 && fixture.pushes.isEmpty)
        #expect(harness.counters.requeued.value == 2 && harness.counters.inFlight.value == 0)
    }

    /// Cuts the publishing connection after the publish for the request and before its confirm.
    private func cutPublishing(of harness: LaneHarness, after request: () -> Void, once isThere: () -> Bool) throws {
        let before = harness.connections.map(\.deliveredToServer)
        request()
        try #require(harness.run { isThere() })
        let publishing = try #require(zip(harness.connections, before).first { $0.deliveredToServer > $1 }).0
        harness.onLoop { publishing.cut() }
    }

    /// A repeated dead letter of a request that was not pushed is not marked as a possible duplicate.
    @Test func aRepeatedDeadLetterIsIdentical() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.onLoop { harness.broker.behavior.confirmDelayMilliseconds = 20_000...20_000 }
        try cutPublishing(of: harness, after: { harness.request("not JSON") }, once: { harness.deadLetters.count == 1 })
        #expect(harness.run { harness.deadLetters.count == 2 })
        #expect(harness.deadLetters.map { $0.properties.header("push-possible-duplicate") } == [false, false])
        #expect(harness.deadLetters[0].body == harness.deadLetters[1].body)
        #expect(harness.deadLetters[0].properties.headers == harness.deadLetters[1].properties.headers)
    }

    /// The lane builds the repeated result again, with the times of the first result.
    @Test func aRepeatedResultIsIdentical() throws {
        let fixture = try LaneAPNSHarness()
        let harness = fixture.harness
        harness.onLoop { harness.broker.behavior.confirmDelayMilliseconds = 20_000...20_000 }
        var results: [ScriptedMessage] = []
        harness.broker.onAppend = { queue, message in
            if queue.name == harness.names.resultsQueue { results.append(message) }
        }
        try cutPublishing(of: harness, after: { fixture.request(1) }, once: { results.count == 1 })
        #expect(harness.run { results.count == 2 })
        harness.broker.onAppend = { _, _ in }
        #expect(results[0].body == results[1].body)
        #expect(results[0].properties.messageID == results[1].properties.messageID)
        #expect(results[0].properties.headers == results[1].properties.headers)
    }

    /// The result has the time of its outcome, not the time of the dead letter's confirm.
    @Test func aResultHasTheTimeOfItsOutcome() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.onLoop { harness.broker.behavior.confirmDelayMilliseconds = 5000...5000 }
        harness.request("not JSON")
        try #require(harness.run { harness.broker.queue(harness.names.resultsQueue)?.ready.count == 1 })
        let result = try #require(harness.broker.queue(harness.names.resultsQueue)?.ready.first)
        let finished = try JSONDocument(result.body).root["finished_at"]?.int64
        #expect(finished != nil)
        #expect(harness.deadLetters.first?.properties.header("push-failed-at")?.integerValue == finished)
    }

    // The request is in a wait queue twice, so two workers may push it.
    @Test func aRepeatedWaitIsMarkedAsPossibleDuplicate() throws {
        let fixture = try LaneAPNSHarness()
        let harness = fixture.harness
        try harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
            harness.broker.behavior.confirmDelayMilliseconds = 20_000...20_000
        }
        var waiting: [FieldTable] = []
        var queues: Set<String> = []
        harness.broker.onAppend = { queue, message in
            guard queue.name.hasPrefix("push.wait."), let headers = message.properties.headers else { return }
            waiting.append(headers)
            queues.insert(queue.name)
        }
        try cutPublishing(of: harness, after: { fixture.request(1) }, once: { waiting.count == 1 })
        try #require(harness.run { waiting.count == 2 })
        harness.broker.onAppend = { _, _ in }
        let name = "push-possible-duplicate"
        #expect(waiting.map { $0[name] } == [false, true])
        #expect(waiting[0].entries.filter { $0.name != name } == waiting[1].entries.filter { $0.name != name })
        #expect(queues.count == 1)
    }

    // The producer's and the worker's headers together exceed a frame.
    @Test func headersThatDoNotFitAreOmitted() throws {
        let harness = try LaneHarness()
        harness.broker.behavior.frameBytesMax = 4096
        try #require(harness.run { harness.isReady })
        harness.request("not JSON", headers: ["note": .string(String(repeating: "x", count: 3800))])
        #expect(harness.run { harness.counters.count(of: .invalid) == 1 })
        let dead = try #require(harness.deadLetters.first?.properties)
        #expect(dead.header("note") == nil && dead.header("push-reason-class") == "json")
    }

    // Neither the dead letter nor the result can be published.
    @Test func theBrokerMovesARequestWhoseMessagesCannotBePublished() throws {
        let log = try CapturedLog()
        let harness = try LaneHarness(publishedBytesMax: 4, log: log.log)
        try #require(harness.run { harness.isReady })
        harness.request("not JSON")
        #expect(harness.run { harness.deadLetters.count == 1 && harness.counters.rejected.value == 1 })
        #expect(harness.counters.publishRepeats.value == 0 && harness.isReady)
        #expect(log.lines().count { $0.contains("message not publishable") } == 2)
    }

    @Test func anUnconfirmedPublishIsNotRepeatedAfterTheEnd() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.onLoop { harness.broker.behavior.confirmDelayMilliseconds = 20_000...20_000 }
        harness.request("not JSON")
        try #require(harness.run { harness.deadLetters.count == 1 })
        harness.drain(deadlineSeconds: 1)
        #expect(harness.run { harness.unfinished == 1 && harness.counters.requeued.value == 1 })
        #expect(harness.counters.publishRepeats.value == 0)
    }

    @Test func anUnpublishedMessageIsNotCounted() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.onLoop { harness.broker.behavior.nackPercent = 100 }
        harness.request("not JSON")
        #expect(harness.run { harness.counters.publishRepeats.value >= 1 })
        harness.drain(deadlineSeconds: 1)
        #expect(harness.run { harness.unfinished == 1 && harness.counters.requeued.value == 1 })
        #expect(
            harness.counters.registry.count(of: "martlet_dead_total") == 0 && harness.counters.count(of: .invalid) == 0)
    }

    // The loop ends with the lane. A request that kept waiting would never have a result, and another lane would treat
    // its redelivery as a duplicate.
    @Test func pendingRepeatsAreRequeuedBeforeTheLaneEnds() throws {
        let fixture = try LaneAPNSHarness(lanes: 2)
        let harness = fixture.harness
        harness.onLoop { harness.broker.behavior.nackPercent = 100 }
        fixture.request(2)
        // The next pauses between repeats are longer than the drain.
        try #require(harness.run { harness.counters.publishRepeats.value == 2 * 8 })
        harness.drain(0, deadlineSeconds: 1)
        #expect(harness.run { harness.ended == 1 })
        #expect(harness.counters.requeued.value == 1 && harness.counters.inFlight.value == 1)
        harness.onLoop { harness.broker.behavior.nackPercent = 0 }
        #expect(harness.run { fixture.results == 2 })
        #expect(fixture.pushes.count == 3)
        harness.drain(1, deadlineSeconds: 30)
        #expect(harness.run { harness.unfinished == 1 })
    }

    @Test func pendingRepeatsAreUnfinishedIfTheBrokerIsSilent() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.onLoop { harness.broker.behavior.nackPercent = 100 }
        harness.request("not JSON")
        try #require(harness.run { harness.counters.publishRepeats.value == 8 })
        harness.onLoop { harness.broker.setSilent(true) }
        harness.drain(deadlineSeconds: 1)
        #expect(harness.run { harness.unfinished == 1 })
    }

    @Test func anUnpublishedWaitIsNotCountedAsRetry() throws {
        let fixture = try LaneAPNSHarness()
        let harness = fixture.harness
        try harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "busy", action: .answer(.refused(.tooManyRequests))))
            harness.broker.behavior.nackPercent = 100
        }
        fixture.request(1)
        #expect(harness.run { harness.counters.publishRepeats.value >= 1 })
        harness.drain(deadlineSeconds: 1)
        #expect(harness.run { harness.unfinished == 1 && harness.counters.requeued.value == 1 })
        #expect(fixture.pushes.count == 1 && fixture.waits == 0)
    }

    // The broker would accept the next publish.
    @Test func aLaneThatReachedItsDeadlinePublishesNothing() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.onLoop { harness.broker.behavior.nackPercent = 100 }
        harness.request("not JSON")
        // The next pause between repeats is longer than the drain.
        try #require(harness.run { harness.counters.publishRepeats.value == 8 })
        harness.onLoop { harness.broker.behavior.nackPercent = 0 }
        let published = harness.broker.published
        harness.drain(deadlineSeconds: 1)
        #expect(harness.run { harness.unfinished == 1 })
        harness.pass(seconds: 5)
        #expect(harness.broker.published == published && harness.counters.requeued.value == 1)
        #expect(harness.queue()?.ready.count == 1)
    }
}
