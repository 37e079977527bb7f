import APNSProtocol
import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// Rows 54 to 66 of the conformance table: the payload.
@Suite struct PayloadConformanceTests {
    private static let payloadEmpty = #"{"reason":"PayloadEmpty"}"#
    private static let payloadTooLarge = #"{"reason":"PayloadTooLarge"}"#

    /// Returns an alert with this number of bytes.
    private func alert(bytes: Int, of character: String = "x") -> String {
        let around = #"{"aps":{"alert":""}}"#.utf8.count
        let text = String(repeating: character, count: (bytes - around) / character.utf8.count)
        return #"{"aps":{"alert":"\#(text)"}}"#
    }

    @Test("row 54: an empty body") func row54() throws {
        let wire = try Wire()
        expectRefused(wire.push(body: ""), 400, Self.payloadEmpty)
        // An empty DATA frame can also end the stream.
        let peer = wire.connect()
        wire.loop.enter { peer.send(.headers(1, HPACKWriter.block(wire.fields())), .data(1, [])) }
        wire.run { peer[1].isComplete }
        expectRefused(peer[1], 400, Self.payloadEmpty)
    }

    @Test("row 55: 4096 and 4097 bytes of an alert") func row55() throws {
        let wire = try Wire()
        #expect(alert(bytes: 4096).utf8.count == 4096)
        expectAccepted(wire.push(body: alert(bytes: 4096)))
        expectRefused(wire.push(body: alert(bytes: 4097)), 413, Self.payloadTooLarge)
        expectRefused(wire.push(body: alert(bytes: 60_000)), 413, Self.payloadTooLarge)
    }

    @Test("row 56: 5120 and 5121 bytes of a voip push") func row56() throws {
        let wire = try Wire()
        let voip = ("voip", "com.example.app.voip")
        expectAccepted(wire.push(type: voip.0, topic: voip.1, body: alert(bytes: 5120)))
        expectRefused(wire.push(type: voip.0, topic: voip.1, body: alert(bytes: 5121)), 413, Self.payloadTooLarge)
    }

    @Test("row 57: 4097 bytes of a Live Activity by device token") func row57() throws {
        let wire = try Wire()
        let topic = "com.example.app.push-type.liveactivity"
        expectAccepted(wire.push(type: "liveactivity", topic: topic, body: alert(bytes: 4096)))
        expectRefused(
            wire.push(type: "liveactivity", topic: topic, body: alert(bytes: 4097)), 413, Self.payloadTooLarge)
    }

    @Test("row 58: 4000 characters in 4200 bytes") func row58() throws {
        let text = String(repeating: "x", count: 3780) + String(repeating: "é", count: 200)
        let wide = #"{"aps":{"alert":"\#(text)"}}"#
        #expect(wide.count == 4000 && wide.utf8.count == 4200)
        expectRefused(try Wire().push(body: wide), 413, Self.payloadTooLarge)
    }

    @Test("row 59: a body that is not JSON, or not an object, a switch", arguments: ["Hi", "[]", "{", "7"])
    func row59(body: String) throws {
        #expect(RuleOptions().malformedPayloadReason == .payloadEmpty)
        expectRefused(try Wire().push(body: body), 400, Self.payloadEmpty)
        let lax = try Wire { _, state in state.rules.malformedPayloadReason = nil }
        expectAccepted(lax.push(body: body))
    }

    @Test("row 60: a compressed body, a switch") func row60() throws {
        let gzip: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0]
        let wire = try Wire()
        let fields = wire.fields(["content-encoding": "gzip"])
        expectRefused(wire.exchange(fields, body: gzip), 400, Self.payloadEmpty)
        expectRefused(wire.push(["content-encoding": "gzip"]), 400, Self.payloadEmpty)
        let lax = try Wire { _, state in state.rules.malformedPayloadReason = nil }
        expectAccepted(lax.exchange(lax.fields(["content-encoding": "gzip"]), body: gzip))
    }

    @Test("row 61: custom keys inside aps") func row61() throws {
        expectAccepted(try Wire().push(body: #"{"aps":{"alert":"Hi","mine":{"a":[1]}},"too":1}"#))
    }

    @Test("row 62: background with an alert") func row62() throws {
        let answer = try Wire().push(
            ["apns-push-type": "background", "apns-priority": "5"],
            body: #"{"aps":{"content-available":1,"alert":"Hi"}}"#)
        expectAccepted(answer)
    }

    @Test("row 63: a Live Activity's start without alert and attributes") func row63() throws {
        let answer = try Wire().push(
            type: "liveactivity", topic: "com.example.app.push-type.liveactivity",
            body: #"{"aps":{"event":"start","timestamp":1,"content-state":{}}}"#)
        expectAccepted(answer)
    }

    @Test("row 64: input-push-token and input-push-channel") func row64() throws {
        let answer = try Wire().push(
            type: "liveactivity", topic: "com.example.app.push-type.liveactivity",
            body: #"{"aps":{"event":"start","input-push-token":1,"input-push-channel":"dHN0LXNyY2gtY2hubA=="}}"#)
        expectAccepted(answer)
    }

    @Test("row 65: content-changed with widgets and controls", arguments: ["widgets", "controls"])
    func row65(type: String) throws {
        let answer = try Wire().push(
            type: type, topic: "com.example.app.push-type.\(type)", body: #"{"aps":{"content-changed":true}}"#)
        expectAccepted(answer)
    }

    @Test("row 66: mdm without aps") func row66() throws {
        let wire = try Wire { _, state in
            state.addApp(bundleID: "com.apple.mgmt.External.f00d", teamID: "TEAM000001")
        }
        expectAccepted(wire.push(type: "mdm", topic: "com.apple.mgmt.External.f00d", body: #"{"mdm":"magic"}"#))
    }
}
