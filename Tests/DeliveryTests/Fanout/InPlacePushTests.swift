import AMQP
import APNSProtocol
import APNSSimulator
import Crypto
import JSON
import Registrations
import TestKit
import Testing

@testable import Delivery

/// Requests to a user that match at most one device, on virtual time.
@Suite struct InPlacePushTests {
    @Test func `A user with one device is pushed to in one delivery with one result`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        fixture.settle()
        #expect(fixture.pushedTokens == ["aa01"])
        #expect(fixture.requestPublishes == 1 && fixture.results.count == 1 && fixture.reports.isEmpty)
        let result = try #require(fixture.results.first)
        let tokenKey = try #require(try fixture.tokenKey("aa01"))
        let request = try #require(UUIDValue(FanoutHarness.id(1)))
        #expect(result.text("id") == ChildTemplate.childID(of: request, tokenKey: tokenKey).description)
        #expect(result.text("request_id") == FanoutHarness.id(1))
        #expect(result.text("user") == "ann" && result.text("device_token") == "aa01")
        #expect(result.number("devices") == 1 && result.text("outcome") == "accepted")
        #expect(fixture.apns.pushes.first?.apnsID?.description == result.text("id"))
    }

    @Test func `A user without a device ends in one result and no dead letter`() throws {
        let fixture = try FanoutHarness()
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        let result = try #require(fixture.results.first)
        #expect(result.text("id") == FanoutHarness.id(1) && result.number("devices") == 0)
        #expect(result.text("outcome") == "rejected")
        #expect(result.json.root["error"]?["code"]?.string == "no_device")
        #expect(fixture.deadLetters.isEmpty && fixture.reports.isEmpty && fixture.apns.pushes.isEmpty)
    }

    @Test func `A child that must wait is published to the wait queue instead of its request`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        try fixture.harness.onLoop {
            try fixture.apns.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
        }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        #expect(fixture.apns.pushes.map(\.status) == [429, 200])
        #expect(Set(fixture.apns.pushes.map(\.apnsID)).count == 1)
        let waited = try #require(fixture.waits.first)
        let text = String(decoding: waited.body, as: UTF8.self)
        #expect(text.contains(#""device_token":"aa01""#) && !text.contains(#""user""#))
        #expect(fixture.results.first?.number("devices") == 1)
        #expect(fixture.results.first?.number("attempts") == 2)
    }

    @Test func `The dead letter of a child that is pushed in place contains the child`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        try fixture.harness.onLoop {
            try fixture.apns.apns.faults.put(
                Fault(id: "bad", action: .answer(.refused(.badDeviceToken)), countMax: 1))
        }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        let letter = try #require(fixture.deadLetters.first)
        #expect(String(decoding: letter.body, as: UTF8.self).contains(#""device_token":"aa01""#))
        #expect(letter.properties.messageID == fixture.results.first?.text("id"))
        #expect(letter.properties.header(MessageHeaderName.requestID)?.stringValue == FanoutHarness.id(1))
    }

    @Test func `A duplicate of a request to one device is not pushed again`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 3 && fixture.isIdle })
        #expect(fixture.pushedTokens == ["aa01"])
        #expect(fixture.results.map { $0.flag("duplicate") ?? false } == [false, true, true])
        for result in fixture.results {
            #expect(result.text("request_id") == FanoutHarness.id(1) && result.number("devices") == 1)
            #expect(result.text("user") == "ann" && result.text("device_token") == "aa01")
        }
    }

    @Test func `Each duplicate of a request ends in the result of its device`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        try fixture.harness.onLoop {
            try fixture.apns.apns.faults.put(Fault(id: "bad", action: .answer(.refused(.badDeviceToken))))
        }
        for _ in 0..<2 {
            fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
            fixture.publish(FanoutHarness.request(2, user: "bob"), 2)
        }
        #expect(fixture.run { fixture.results.count == 4 && fixture.isIdle })
        let ofAnn = fixture.results.filter { $0.text("user") == "ann" }
        let ofBob = fixture.results.filter { $0.text("user") == "bob" }
        #expect(ofAnn.allSatisfy { $0.text("outcome") == "rejected" && $0.text("request_id") == FanoutHarness.id(1) })
        #expect(ofAnn.map { $0.number("devices") } == [1, 1])
        #expect(ofBob.allSatisfy { $0.json.root["error"]?["code"]?.string == "no_device" })
        #expect(ofBob.map { $0.number("devices") } == [0, 0])
    }

    @Test func `The registration time decides whether a 410 response ends the token`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"])
        let registered = fixture.store.rows.values.first?.registeredAt ?? 0
        try fixture.harness.onLoop {
            try fixture.apns.apns.faults.put(
                Fault(
                    id: "gone", action: .answer(.gone(.unregistered, timestampMilliseconds: registered - 1)),
                    countMax: 1))
        }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        #expect(fixture.results.first?.text("token_state") == "valid")
    }

    @Test(arguments: [
        (TokenKind.liveactivity, "scores", #"liveactivity"#),
        (.controls, "door", "controls"), (.pushtotalk, "crew", "pushtotalk"),
    ])
    func `A scope selects the tokens of its kind`(_ kind: TokenKind, _ scope: String, _ type: String) throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01"], kind: kind, scope: scope)
        try fixture.register("ann", ["aa02"], kind: kind, scope: "other")
        try fixture.register("ann", ["aa03"])
        let aps =
            kind == .liveactivity
            ? #"{"event":"update","timestamp":1,"content-state":{}}"#
            : kind == .controls ? #"{"content-changed":true}"# : "{}"
        let body =
            #"{"id":"\#(FanoutHarness.id(1))","app":"\#(FanoutHarness.app)","scope":"\#(scope)","user":"ann","#
            + #""push_type":"\#(type)","payload":{"aps":\#(aps)}}"#
        fixture.publish(body, 1)
        #expect(fixture.run { fixture.results.count == 1 && fixture.isIdle })
        #expect(fixture.results.first?.json.root["error"]?["message"]?.string == nil)
        #expect(fixture.pushedTokens == ["aa01"])
    }
}
