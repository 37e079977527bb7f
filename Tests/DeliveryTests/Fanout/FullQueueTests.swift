import AMQP
import EventLoop
import JSON
import TestKit
import Testing

@testable import Delivery

/// Requests to users whose request queue refuses children, on virtual time.
@Suite struct FullQueueTests {
    @Test func `A full queue delays children and does not stop the lane`() throws {
        let fixture = try FanoutHarness()
        let users = (0..<1000).map { "user-\($0)" }
        for (number, user) in users.enumerated() { try fixture.register(user, [FanoutHarness.token(number)]) }
        fixture.harness.onLoop { fixture.harness.queue()?.lengthMax = 100 }
        fixture.publish(FanoutHarness.request(1, users: users), 1)
        #expect(fixture.run { fixture.reports.count == 1 && fixture.isIdle })
        fixture.settle()
        #expect(Set(fixture.results.compactMap { $0.text("id") }).count == 1000)
        #expect(fixture.pushedTokens == FanoutHarness.tokens(0..<1000).sorted())
        #expect(fixture.reports.first?.number("devices") == 1000)
        #expect(fixture.harness.stops == 0 && fixture.harness.publishingFailure == nil && fixture.harness.isReady)
        #expect(fixture.deadLetters.isEmpty)
        // A child after a refused one may be published twice. The result of the duplicate is marked.
        for result in fixture.results where result.flag("duplicate") == true {
            #expect(result.flag("possible_duplicate") == true)
        }
        let held = try #require(fixture.waits.first)
        #expect(held.properties.header(MessageHeaderName.reasonCode)?.stringValue == "held-fanout")
        #expect(held.properties.header(MessageHeaderName.attempt)?.integerValue == 0)
        #expect(held.properties.header(MessageHeaderName.cursor)?.stringValue != nil)
    }

    @Test func `A request is given up if its queue accepts no children for too long`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.harness.onLoop { fixture.harness.queue()?.lengthMax = 0 }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        fixture.harness.pass(seconds: 7200)
        #expect(fixture.results.isEmpty && fixture.children.isEmpty && fixture.harness.stops == 0)
        for _ in 0..<12 { fixture.harness.pass(seconds: 7200) }
        let error = fixture.results.first?.json.root["error"]
        #expect(error?["code"]?.string == "fanout")
        #expect(error?["message"]?.string?.contains("run: martlet topology apply --config a.yaml") == true)
        #expect(fixture.deadLetters.count == 1 && fixture.reports.isEmpty)
    }

    @Test func `The next part of a request waits if its queue is full`() throws {
        let fixture = try FanoutHarness()
        let users = (0..<60).map { "user-\($0)" }
        for (number, user) in users.enumerated() {
            try fixture.register(user, FanoutHarness.tokens(number * 10..<number * 10 + 10))
        }
        // The queue refuses requests once it has received the children of the first chunk, until a request waits.
        fixture.harness.onLoop {
            let broker = fixture.harness.broker
            let onAppend = broker.onAppend
            nonisolated(unsafe) let queue = fixture.harness.queue()
            broker.onAppend = { target, message in
                onAppend(target, message)
                if fixture.children.count == FanoutChunk.childrenMax { queue?.lengthMax = 0 }
                if !fixture.waits.isEmpty { queue?.lengthMax = nil }
            }
        }
        fixture.publish(FanoutHarness.request(1, users: users), 1)
        #expect(fixture.run { fixture.reports.count == 1 && fixture.results.count == 600 && fixture.isIdle })
        #expect(fixture.waits.count == 1 && fixture.pushedTokens.count == 600)
        #expect(fixture.reports.first?.flag("possible_duplicate") == false)
        fixture.harness.onLoop { fixture.harness.broker.onAppend = { _, _ in } }
    }

    @Test func `A held request is marked if its next part may be in the queue already`() throws {
        let fixture = try FanoutHarness()
        let users = (0..<60).map { "user-\($0)" }
        for (number, user) in users.enumerated() {
            try fixture.register(user, FanoutHarness.tokens(number * 10..<number * 10 + 10))
        }
        // The queue refuses requests once the request has returned for its next chunk.
        fixture.harness.onLoop {
            let broker = fixture.harness.broker
            broker.behavior.confirmDelayMilliseconds = 1000...1000
            let onAppend = broker.onAppend
            nonisolated(unsafe) let queue = fixture.harness.queue()
            broker.onAppend = { target, message in
                onAppend(target, message)
                guard target === queue, message.properties.header(MessageHeaderName.cursor) != nil else { return }
                queue?.lengthMax = 0
            }
        }
        fixture.publish(FanoutHarness.request(1, users: users), 1)
        #expect(fixture.run { fixture.harness.queue()?.lengthMax == 0 })
        // The connection that published the most bytes is lost before the confirm.
        fixture.harness.onLoop {
            fixture.harness.connections.max { $0.deliveredToServer < $1.deliveredToServer }?.cut()
        }
        #expect(fixture.run { !fixture.waits.isEmpty })
        let held = try #require(fixture.waits.first).properties
        #expect(held.header(MessageHeaderName.cursor) != nil)
        #expect(held.header(MessageHeaderName.possibleDuplicate)?.booleanValue == true)
        fixture.harness.onLoop { fixture.harness.broker.onAppend = { _, _ in } }
    }

    @Test func `The report of a request that ends counts the children behind a refused one`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", FanoutHarness.tokens(0..<40))
        fixture.harness.onLoop { fixture.harness.broker.behavior.nackPercent = 30 }
        // Without time for a wait, the request ends.
        fixture.publish(FanoutHarness.request(1, user: "ann", more: #""expiration":0,"#), 1)
        #expect(fixture.run { fixture.reports.count == 1 && fixture.isIdle })
        fixture.settle()
        let outcomes = fixture.results.filter { $0.text("request_id") == nil }.map { $0.text("outcome") }
        #expect(outcomes == ["expired"])
        #expect(fixture.reports.first?.number("devices") == fixture.children.count)
        #expect(fixture.reports.first?.flag("possible_duplicate") == true)
        #expect(fixture.pushedTokens.count == fixture.children.count && 1..<40 ~= fixture.children.count)
    }

    @Test func `A request is held if no binding leads to its queue`() throws {
        let fixture = try FanoutHarness(requestQueues: ["push.requests.urgent", "push.requests.bulk"])
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.harness.onLoop { fixture.harness.broker.behavior.returnPercent = 100 }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1, key: "bulk")
        fixture.harness.pass(seconds: 1)
        fixture.harness.onLoop { fixture.harness.broker.behavior.returnPercent = 0 }
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.pushedTokens == ["aa01", "aa02"] && fixture.reports.count == 1)
    }
}
