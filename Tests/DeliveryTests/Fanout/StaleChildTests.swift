import AMQP
import APNSProtocol
import APNSSimulator
import JSON
import Registrations
import TestKit
import Testing

@testable import Delivery

/// Children whose registration may end before their push, on virtual time.
@Suite struct StaleChildTests {
    @Test(arguments: [["aa01"], ["aa01", "aa02"]])
    func `A child is not pushed if its user signed out while it waited`(_ tokens: [String]) throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", tokens)
        try fixture.harness.onLoop {
            try fixture.apns.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.serviceUnavailable)), countMax: tokens.count))
        }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.waits.count == tokens.count })
        try fixture.unregister("ann")
        #expect(fixture.run { fixture.results.count == tokens.count && fixture.isIdle })
        #expect(fixture.results.allSatisfy { $0.json.root["error"]?["code"]?.string == "gone" })
        #expect(fixture.results.allSatisfy { $0.text("outcome") == "rejected" && $0.text("user") == "ann" })
        #expect(fixture.pushedTokens.isEmpty && fixture.deadLetters.isEmpty)
        #expect(fixture.count(of: "martlet_fanout_gone_total") == tokens.count)
    }

    @Test(arguments: [["ann"], ["bob"], ["ann", "bob"]])
    func `A child of a shared token is pushed unless all of its users signed out`(_ gone: [String]) throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        fixture.harness.pass(seconds: 1)
        try fixture.register("bob", ["aa01"], isShared: true)
        try fixture.harness.onLoop {
            try fixture.apns.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.serviceUnavailable)), countMax: 1))
        }
        fixture.publish(FanoutHarness.request(1, users: ["ann", "bob"]), 1)
        #expect(fixture.run { fixture.waits.count == 1 })
        for user in gone { try fixture.unregister(user) }
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        #expect(fixture.pushedTokens == (gone.count == 2 ? [] : ["aa01"]))
        let result = try #require(fixture.results.first)
        #expect(result.text("user") == "ann")
        #expect(result.json.root["error"]?["code"]?.string == (gone.count == 2 ? "gone" : nil))
    }

    @Test func `A child whose registration needs a missing data key waits for the key`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        try fixture.harness.onLoop {
            try fixture.apns.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.serviceUnavailable)), countMax: 2))
        }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.waits.count == 2 })
        fixture.harness.onLoop { fixture.store.faultsOfUsers["ann"] = StoreFault(MissingDataKey(id: 2)) }
        #expect(fixture.run { fixture.waits.count == 4 })
        #expect(fixture.results.isEmpty)
        fixture.harness.onLoop { fixture.store.faultsOfUsers = [:] }
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.pushedTokens == ["aa01", "aa02"])
    }

    @Test func `A child of a live registration is pushed after a wait`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"], kind: .controls, scope: "door")
        try fixture.harness.onLoop {
            try fixture.apns.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 2))
        }
        let body =
            #"{"id":"\#(FanoutHarness.id(1))","app":"\#(FanoutHarness.app)","scope":"door","user":"ann","#
            + #""push_type":"controls","payload":{"aps":{"content-changed":true}}}"#
        fixture.publish(body, 1)
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.pushedTokens == ["aa01", "aa02"] && fixture.store.lookupCount >= 2)
    }

    @Test(arguments: [true, false])
    func `A child that was long in its queue is looked up again`(_ isRegistered: Bool) throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.harness.onLoop { fixture.harness.broker.behavior.deliveryDelay = .seconds(61) }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.children.count == 2 })
        if !isRegistered { try fixture.unregister("ann") }
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.pushedTokens == (isRegistered ? ["aa01", "aa02"] : []))
        #expect(fixture.store.lookupCount >= 2)
    }

    @Test func `A child that is delivered at once is not looked up again`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.store.lookupCount == 1)
    }

    @Test func `A child waits while the store is away`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.harness.onLoop { fixture.harness.broker.behavior.deliveryDelay = .seconds(61) }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.children.count == 2 })
        fixture.fail(FanoutHarness.unreachable)
        #expect(fixture.run { fixture.waits.count == 2 })
        fixture.fail(nil)
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.pushedTokens == ["aa01", "aa02"])
        #expect(fixture.results.allSatisfy { $0.number("attempts") == 1 })
    }

    @Test func `The headers of a producer are no origin`() throws {
        let fixture = try FanoutHarness()
        fixture.publish(
            LaneAPNSHarness.message(1, app: 0), 1,
            headers: [
                "push-request-id": .string(FanoutHarness.id(2)), "push-user": "eve",
                "push-registration": .string(FanoutHarness.id(3)), "push-registered-at": 0, "push-expanded-at": 0,
            ])
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        #expect(fixture.results.first?.text("user") == nil && fixture.store.lookupCount == 0)
        #expect(fixture.pushedTokens == ["aabb"])
    }
}
