import AMQP
import BrokerTopology
import Crypto
import EventLoop
import Registrations
import TestKit
import Testing

@testable import Delivery

/// Requests to several devices, on virtual time.
@Suite struct FanoutTests {
    @Test func `Each device of a user has its request and its result, and a report counts them`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02", "aa03"])
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 3 && fixture.isIdle })
        fixture.settle()
        #expect(fixture.pushedTokens == ["aa01", "aa02", "aa03"])
        #expect(fixture.results.allSatisfy { $0.text("request_id") == FanoutHarness.id(1) })
        #expect(fixture.results.allSatisfy { $0.text("user") == "ann" && $0.number("devices") == nil })
        #expect(fixture.results.count == 3 && fixture.children.count == 3)
        let report = try #require(fixture.reports.first)
        #expect(fixture.reports.count == 1)
        #expect(report.text("id") == FanoutHarness.id(1) && report.text("app") == FanoutHarness.app)
        #expect(report.number("devices") == 3 && report.number("users_without_device") == 0)
        #expect(report.flag("possible_duplicate") == false)
        #expect(fixture.count(of: "martlet_fanout_children_total") == 3)
    }

    @Test func `A list of users ends in a report, also without a device`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        fixture.publish(FanoutHarness.request(1, users: ["ann"]), 1)
        fixture.publish(FanoutHarness.request(2, users: ["bob", "cyd"]), 2)
        #expect(fixture.run { fixture.reports.count == 2 && fixture.results.count == 1 && fixture.isIdle })
        #expect(fixture.reports.map { $0.number("devices") ?? -1 }.sorted() == [0, 1])
        #expect(fixture.reports.map { $0.number("users_without_device") ?? -1 }.sorted() == [0, 2])
        #expect(fixture.pushedTokens == ["aa01"])
    }

    @Test func `Users who share a token get one push`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"], isShared: true)
        try fixture.register("bob", ["aa01", "aa02"], isShared: true)
        fixture.publish(FanoutHarness.request(1, users: ["ann", "bob"]), 1)
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        fixture.settle()
        #expect(fixture.pushedTokens == ["aa01", "aa02"])
        #expect(fixture.reports.first?.number("devices") == 2)
    }

    @Test func `A second child of a shared token is marked as a possible duplicate`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        let others = (0..<50).map { "user-\($0)" }
        for (number, user) in others.enumerated() {
            try fixture.register(user, FanoutHarness.tokens(number * 10..<number * 10 + 10))
        }
        fixture.harness.pass(seconds: 1)
        try fixture.register("cyd", ["aa01"], isShared: true)
        fixture.publish(FanoutHarness.request(1, users: ["ann"] + others + ["cyd"]), 1)
        #expect(fixture.run { fixture.results.count == FanoutChunk.childrenMax + 2 && fixture.isIdle })
        let marks = fixture.children.filter {
            $0.properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue == true
        }
        #expect(marks.map { $0.properties.header(MessageHeaderName.user)?.stringValue } == ["cyd"])
        #expect(fixture.pushedTokens.count { $0 == "aa01" } == 1)
        #expect(fixture.reports.first?.number("devices") == FanoutChunk.childrenMax + 2)
    }

    @Test func `A large audience is published in chunks`() throws {
        let fixture = try FanoutHarness()
        let users = (0..<130).map { "user-\($0)" }
        for (number, user) in users.enumerated() where number % 13 != 0 {
            try fixture.register(user, FanoutHarness.tokens(number * 10..<number * 10 + 10))
        }
        fixture.publish(FanoutHarness.request(1, users: users), 1)
        #expect(fixture.run { fixture.reports.count == 1 && fixture.results.count == 1200 && fixture.isIdle })
        fixture.settle()
        #expect(fixture.results.count == 1200 && fixture.children.count == 1200)
        #expect(Set(fixture.pushedTokens).count == 1200 && fixture.pushedTokens.count == 1200)
        let report = try #require(fixture.reports.first)
        #expect(report.number("devices") == 1200 && report.number("users_without_device") == 10)
        // The request is published once for each of its three chunks, and each device has a child.
        #expect(fixture.requestPublishes == 3 + 1200)
        #expect(report.flag("possible_duplicate") == false)
    }

    @Test func `An edited request to a large audience starts over once`() throws {
        let fixture = try FanoutHarness()
        let users = (0..<60).map { "user-\($0)" }
        for (number, user) in users.enumerated() {
            try fixture.register(user, FanoutHarness.tokens(number * 10..<number * 10 + 10))
        }
        fixture.publish(
            FanoutHarness.request(1, users: users), 1,
            headers: ["push-edited-from": "before", "push-cursor": "1 10 0"])
        #expect(fixture.run { fixture.reports.count == 1 && fixture.isIdle })
        fixture.settle()
        #expect(fixture.children.count == 600 && fixture.pushedTokens.count == 600)
        #expect(fixture.reports.first?.number("devices") == 600)
    }

    @Test func `An edited request that is held before its first chunk loses the earlier cursor`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        try fixture.register("bob", ["aa02"])
        fixture.fail(FanoutHarness.unreachable)
        fixture.publish(
            FanoutHarness.request(1, users: ["ann", "bob"]), 1,
            headers: ["push-edited-from": "before", "push-cursor": "1 1 0"])
        #expect(fixture.run { fixture.waits.count == 1 })
        let held = try #require(fixture.waits.first).properties
        #expect(held.header(MessageHeaderName.editedFrom) == "before" && held.header(MessageHeaderName.cursor) == nil)
        fixture.fail(nil)
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.pushedTokens == ["aa01", "aa02"] && fixture.reports.first?.number("devices") == 2)
    }

    @Test func `Requests of others come between the chunks`() throws {
        let fixture = try FanoutHarness(inFlightMax: 1)
        let users = (0..<60).map { "user-\($0)" }
        for (number, user) in users.enumerated() {
            try fixture.register(user, FanoutHarness.tokens(number * 10..<number * 10 + 10))
        }
        fixture.publish(FanoutHarness.request(1, users: users), 1)
        fixture.publish(LaneAPNSHarness.message(2, app: 0), 2)
        #expect(fixture.run { fixture.results.count == 601 && fixture.isIdle })
        #expect(fixture.results.first?.text("id") == FanoutHarness.id(2))
        #expect(fixture.reports.first?.number("devices") == 600)
    }

    @Test func `A child has the bytes of its request, with a device instead of users`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"], kind: .controls, scope: "door")
        let body =
            #" { "user" : "ann" , "scope": "door", "app":"\#(FanoutHarness.app)","push_type":"controls","#
            + #""payload":{"aps":{"content-changed":true}},"priority":5 } "#
        fixture.publish(body, 1)
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        let child = try #require(fixture.children.first)
        let id = try #require(child.properties.messageID)
        let token = String(decoding: child.body, as: UTF8.self).contains("aa01") ? "aa01" : "aa02"
        #expect(
            String(decoding: child.body, as: UTF8.self)
                == #"{ "device_token":"\#(token)","id":"\#(id)" ,  "app":"\#(FanoutHarness.app)","#
                + #""push_type":"controls","payload":{"aps":{"content-changed":true}},"priority":5 }"#)
        #expect(child.properties.header(MessageHeaderName.user)?.stringValue == "ann")
        #expect(
            child.properties.header(MessageHeaderName.registration)?.stringValue
                == (try fixture.tokenKey(token))?.description)
        #expect(child.properties.userID == "guest")
    }

    @Test func `A request in an event has children that are no events`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        let event =
            #"{"specversion":"1.0","id":"7","source":"/shop","type":"push","data":{"app":"\#(FanoutHarness.app)","#
            + #""user":"ann","push_type":"alert","payload":{"aps":{"alert":"x"}}}}"#
        fixture.publish(event, 1)
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.pushedTokens == ["aa01", "aa02"])
        #expect(fixture.children.allSatisfy { $0.body.first == UInt8(ascii: "{") })
        #expect(fixture.children.allSatisfy { !String(decoding: $0.body, as: UTF8.self).contains("specversion") })
        #expect(fixture.reports.first?.text("id") == FanoutHarness.id(1))
    }

    @Test func `A duplicate of a request has duplicates of its children`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 4 && fixture.isIdle })
        #expect(fixture.pushedTokens == ["aa01", "aa02"])
        #expect(fixture.results.count { $0.flag("duplicate") == true } == 2 && fixture.reports.count == 2)
    }

    @Test func `A request that is redelivered after its chunk is only acknowledged`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        // The channel is lost before the broker confirms the children.
        fixture.harness.onLoop { fixture.harness.broker.behavior.confirmDelayMilliseconds = 500...500 }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.children.count == 2 })
        fixture.harness.onLoop { fixture.harness.broker.closeChannels(541, "INTERNAL_ERROR") }
        #expect(fixture.run { fixture.results.count >= 2 && !fixture.reports.isEmpty && fixture.isIdle })
        fixture.settle()
        #expect(fixture.pushedTokens == ["aa01", "aa02"])
    }

    @Test func `A redelivered request marks its children and its report`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1, deliveryCount: 1)
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.results.allSatisfy { $0.flag("possible_duplicate") == true })
        #expect(fixture.reports.first?.flag("possible_duplicate") == true)
    }

    @Test func `Children of a request from the quarantine go to the queue it came from`() throws {
        let fixture = try FanoutHarness(requestQueues: ["push.requests.urgent", "push.requests.bulk"])
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.publish(
            FanoutHarness.request(1, user: "ann"), 1, key: "bulk", deliveryCount: DeliveryPipeline.deliveriesMax)
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.harness.queue(fixture.harness.names.quarantineQueue)?.published == 1)
        #expect(fixture.children.map(\.routingKey) == ["bulk", "bulk"])
        #expect(fixture.pushedTokens == ["aa01", "aa02"])
    }

    @Test func `Shards spread the children`() throws {
        let queue = "push.requests"
        let fixture = try FanoutHarness(requestQueues: [queue], shards: [queue: 4])
        try fixture.register("ann", FanoutHarness.tokens(0..<40))
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 40 && fixture.isIdle })
        let used = fixture.harness.names.shards(of: queue).filter {
            fixture.harness.queue($0)?.published ?? 0 > 1
        }
        #expect(used.count > 2)
    }

    @Test func `Children of an app with limits wait for permits`() throws {
        let fixture = try FanoutHarness(limits: [0: PushLimits(inFlightMax: 1, perSecondMax: 2)])
        try fixture.register("ann", FanoutHarness.tokens(0..<20))
        let start = fixture.apns.now
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 20 && fixture.isIdle })
        #expect(start.duration(to: fixture.apns.now) >= .seconds(8))
        #expect(fixture.pushedTokens.count == 20)
    }

    @Test func `A request that expired has no children`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.fail(FanoutHarness.unreachable)
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1, expiration: "60000")
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        #expect(fixture.results.first?.text("outcome") == "expired" && fixture.children.isEmpty)
    }

    @Test func `A partly expanded request that becomes invalid ends in a report`() throws {
        let fixture = try FanoutHarness()
        for (number, userID) in [(1, "guest"), (2, nil)] {
            fixture.publish(
                FanoutHarness.request(number, user: "ann", more: #""priority":3,"#), number,
                headers: ["push-retry-rounds": 1, "push-cursor": "0 500 0"], userID: userID)
        }
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        fixture.settle()
        #expect(fixture.results.allSatisfy { $0.text("outcome") == "invalid" && $0.text("request_id") == nil })
        // The cursor of a producer causes no report.
        #expect(fixture.reports.map { $0.text("id") } == [FanoutHarness.id(1)])
        #expect(fixture.reports.first?.number("devices") == 500)
    }

    // A worker republishes a request to a device with all headers of its producer.
    @Test func `A cursor of a request to a device causes no report`() throws {
        let fixture = try FanoutHarness()
        let body =
            #"{"id":"\#(FanoutHarness.id(1))","app":"\#(FanoutHarness.app)","device_token":"aa01","push_type":"alert","#
            + #""payload":{"aps":{"alert":"x"}}}"#
        fixture.publish(body, 1, headers: ["push-retry-rounds": 1, "push-cursor": "0 500 0"], userID: "guest")
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        fixture.settle()
        #expect(fixture.results.first?.text("outcome") == "accepted" && fixture.reports.isEmpty)
    }

    @Test func `A partly expanded request that ends in the quarantine ends in a report`() throws {
        let fixture = try FanoutHarness()
        fixture.harness.onLoop {
            fixture.harness.broker.publish(
                routingKey: fixture.harness.names.quarantineQueue, messageID: FanoutHarness.id(1),
                headers: ["push-retry-rounds": 1, "push-cursor": "0 500 0"], userID: "guest",
                body: Array(FanoutHarness.request(1, user: "ann").utf8), deliveryCount: 2)
        }
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        fixture.settle()
        #expect(fixture.results.first?.text("outcome") == "unknown")
        let report = try #require(fixture.reports.first)
        #expect(fixture.reports.count == 1)
        #expect(report.text("id") == FanoutHarness.id(1) && report.number("devices") == 500)
        // The worker does not read the body.
        #expect(report.text("app") == nil && report.text("environment") == nil)
    }

    @Test func `A pause of the topic holds the request and not its children`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        #expect(fixture.harness.pause(.topic(FanoutHarness.app)))
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.waits.count == 1 })
        #expect(fixture.children.isEmpty && fixture.store.lookupCount == 0)
        #expect(fixture.harness.pause(.topic(FanoutHarness.app), false))
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.reports.first?.number("devices") == 2)
    }

    @Test func `A drain returns requests whose devices are not known yet`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.harness.onLoop { fixture.store.latency = .seconds(1) }
        for number in 0..<10 { fixture.publish(FanoutHarness.request(number, user: "ann"), number) }
        #expect(fixture.run { fixture.harness.queue()?.unsettled == 10 })
        fixture.harness.drain(deadlineSeconds: 20)
        #expect(fixture.run { fixture.harness.unfinished != nil })
        #expect(fixture.harness.unfinished == 0)
        #expect(fixture.harness.queue()?.ready.count == 10 && fixture.results.isEmpty && fixture.children.isEmpty)
    }
}
