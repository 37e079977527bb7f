import APNSProtocol
import TestKit
import Testing

@testable import APNSSimulator

/// Rows of the conformance table about a device push, its success and its headers.
@Suite struct DevicePushConformanceTests {
    private static let badPriority = #"{"reason":"BadPriority"}"#
    private static let topicDisallowed = #"{"reason":"TopicDisallowed"}"#

    @Test("row 19: a good alert push with apns-id in lower case") func row19() throws {
        expectAccepted(try Wire().push())
    }

    @Test("row 20: no apns-id") func row20() throws {
        let answer = try Wire().push(["apns-id": nil])
        expectAccepted(answer, id: nil)
        #expect(isUpperCaseUUID(answer["apns-id"] ?? ""))
    }

    @Test("row 21: the sandbox adds apns-unique-id") func row21() throws {
        let wire = try Wire()
        let answers = [wire.push(), wire.push(), wire.push(to: "xyz")]
        #expect(answers.allSatisfy { isLowerCaseUUID($0["apns-unique-id"] ?? "") })
        #expect(Set(answers.map { $0["apns-unique-id"] }).count == 3)
    }

    @Test("row 22: production has no apns-unique-id") func row22() throws {
        let wire = try Wire().at(Wire.Place.production)
        expectAccepted(wire.push(), in: .production)
        #expect(wire.push(to: "xyz").headers.map(\.name) == [":status", "apns-id", "content-type"])
    }

    @Test("row 23: apns-id is not a UUID", arguments: ["not-a-uuid", "", "eabeae5414a811e5b60b1697f925ec7b"])
    func row23(id: String) throws {
        expectRefused(try Wire().push(["apns-id": id]), 400, #"{"reason":"BadMessageId"}"#, id: nil)
    }

    @Test("row 24: apns-id with 11 digits in the last group") func row24() throws {
        let answer = try Wire().push(["apns-id": "eabeae54-14a8-11e5-b60b-1697f925ec7"])
        expectRefused(answer, 400, #"{"reason":"BadMessageId"}"#, id: nil)
    }

    @Test("row 25: no apns-priority", arguments: [("alert", ""), ("background", ""), ("voip", ".voip")])
    func row25(type: String, suffix: String) throws {
        let answer = try Wire().push(
            ["apns-push-type": type, "apns-topic": "com.example.app\(suffix)", "apns-priority": nil])
        expectAccepted(answer)
    }

    @Test("row 26: priorities of an alert", arguments: ["10", "5", "1"]) func row26(priority: String) throws {
        expectAccepted(try Wire().push(["apns-priority": priority]))
    }

    @Test("row 27: invalid priorities", arguments: ["7", "high", ""]) func row27(priority: String) throws {
        expectRefused(try Wire().push(["apns-priority": priority]), 400, Self.badPriority)
    }

    @Test("row 28: background with priority 10, a switch", arguments: [true, false]) func row28(refuses: Bool) throws {
        #expect(RuleOptions().backgroundImmediateReason == .badPriority)
        let wire = try Wire { _, state in state.rules.backgroundImmediateReason = refuses ? .badPriority : nil }
        let answer = wire.push(["apns-push-type": "background", "apns-priority": "10"])
        if refuses { expectRefused(answer, 400, Self.badPriority) } else { expectAccepted(answer) }
        expectAccepted(wire.push(["apns-push-type": "background", "apns-priority": "5"]))
    }

    @Test("row 29: apns-expiration 0") func row29() throws {
        expectAccepted(try Wire().push(["apns-expiration": "0"]))
    }

    @Test("row 30: apns-expiration is not a number", arguments: ["abc", "", "-1", "1.5"])
    func row30(expiration: String) throws {
        expectRefused(
            try Wire().push(["apns-expiration": expiration]), 400, #"{"reason":"BadExpirationDate"}"#)
    }

    @Test("row 31: apns-expiration in the past") func row31() throws {
        expectAccepted(try Wire().push(["apns-expiration": "1400000000"]))
    }

    @Test(
        "row 32: a collapse id of 64 bytes",
        arguments: [String(repeating: "c", count: 64), String(repeating: "é", count: 32)])
    func row32(id: String) throws {
        expectAccepted(try Wire().push(["apns-collapse-id": id]))
    }

    @Test(
        "row 33: a collapse id of 65 bytes, of 33 characters of two bytes",
        arguments: [String(repeating: "c", count: 65), String(repeating: "é", count: 33)])
    func row33(id: String) throws {
        expectRefused(try Wire().push(["apns-collapse-id": id]), 400, #"{"reason":"BadCollapseId"}"#)
    }

    @Test("row 34: an unknown push type") func row34() throws {
        expectRefused(try Wire().push(["apns-push-type": "foo"]), 400, #"{"reason":"InvalidPushType"}"#)
    }

    @Test("row 35: no push type") func row35() throws {
        expectAccepted(try Wire().push(["apns-push-type": nil]))
    }

    @Test("row 36: no topic, with a provider token") func row36() throws {
        expectRefused(try Wire().push(["apns-topic": nil]), 400, #"{"reason":"MissingTopic"}"#)
    }

    @Test("row 39: a malformed topic", arguments: ["", "com.example app", "com/example", "*"])
    func row39(topic: String) throws {
        expectRefused(try Wire().push(["apns-topic": topic]), 400, #"{"reason":"BadTopic"}"#)
    }

    @Test("row 40: a topic of another team") func row40() throws {
        let wire = try Wire { _, state in state.addApp(bundleID: "com.example.theirs", teamID: "TEAM000002") }
        let peer = wire.connect()
        for topic in ["com.example.theirs", "com.example.unknown"] {
            expectRefused(wire.push(["apns-topic": topic], on: peer), 400, Self.topicDisallowed)
        }
        expectAccepted(wire.push(on: peer))
    }

    @Test("row 41: voip with the bare bundle ID") func row41() throws {
        expectRefused(try Wire().push(type: "voip", topic: "com.example.app"), 400, Self.topicDisallowed)
    }

    @Test(
        "row 42: each push type with its topic",
        arguments: [
            ("alert", "com.example.app"), ("background", "com.example.app"),
            ("complication", "com.example.app.complication"), ("controls", "com.example.app.push-type.controls"),
            ("fileprovider", "com.example.app.pushkit.fileprovider"),
            ("liveactivity", "com.example.app.push-type.liveactivity"), ("location", "com.example.app.location-query"),
            ("mdm", "com.apple.mgmt.External.f00d"), ("pushtotalk", "com.example.app.voip-ptt"),
            ("voip", "com.example.app.voip"), ("widgets", "com.example.app.push-type.widgets"),
        ])
    func row42(type: String, topic: String) throws {
        let wire = try Wire { _, state in
            state.addApp(bundleID: "com.apple.mgmt.External.f00d", teamID: "TEAM000001")
        }
        let priority = type == "background" ? "5" : "10"
        expectAccepted(wire.push(["apns-push-type": type, "apns-topic": topic, "apns-priority": priority]))
    }

    @Test("row 44: two apns-topic headers", arguments: ["com.example.app", "com.example.other"])
    func row44(second: String) throws {
        expectRefused(try Wire().push(more: [("apns-topic", second)]), 400, #"{"reason":"DuplicateHeaders"}"#)
    }

    @Test("row 45: another method", arguments: ["GET", "PUT", "DELETE"]) func row45(method: String) throws {
        expectRefused(try Wire().push([":method": method]), 405, #"{"reason":"MethodNotAllowed"}"#)
        expectRefused(try Wire().push([":method": method], body: ""), 405, #"{"reason":"MethodNotAllowed"}"#)
    }

    @Test("row 45: the method is checked before the path", arguments: ["/", "/2/device/aa01"])
    func row45OtherPaths(path: String) throws {
        expectRefused(
            try Wire().push([":method": "GET", ":path": path], body: ""), 405, #"{"reason":"MethodNotAllowed"}"#)
    }

    @Test("row 45: HEAD is answered without a body") func row45Head() throws {
        let answer = try Wire().push([":method": "HEAD"], body: "")
        #expect(answer[":status"] == "405")
        #expect(answer.frames == ["HEADERS end_stream"])
    }

    @Test("row 46: no device token in the path") func row46() throws {
        expectRefused(try Wire().push([":path": "/3/device/"]), 400, #"{"reason":"MissingDeviceToken"}"#)
    }

    @Test("row 47: other paths", arguments: ["/3/devices/\(Wire.deviceToken)", "/2/device/\(Wire.deviceToken)", "/"])
    func row47(path: String) throws {
        expectRefused(try Wire().push([":path": path]), 404, #"{"reason":"BadPath"}"#)
    }

    @Test("row 48: a token that is not hexadecimal, or of odd length", arguments: ["xyz0", "abc", "ab%20", "ab/cd"])
    func row48(token: String) throws {
        expectRefused(try Wire().push(to: token), 400, #"{"reason":"BadDeviceToken"}"#)
    }

    @Test("row 49: known tokens of any size", arguments: [64, 108, 160, 32]) func row49(digits: Int) throws {
        let token = String(repeating: "b7", count: digits / 2)
        let wire = try Wire { _, state in
            state.unknownDevices = .bad
            state.add(Device(token: token, bundleID: "com.example.app", environment: .sandbox))
        }
        expectAccepted(wire.push(to: token))
        expectRefused(wire.push(to: token + "00"), 400, #"{"reason":"BadDeviceToken"}"#)
    }

    @Test("row 50: a known token in upper case") func row50() throws {
        let wire = try Wire { _, state in
            state.unknownDevices = .bad
            state.add(Device(token: "ab12cd", bundleID: "com.example.app", environment: .sandbox))
        }
        for token in ["ab12cd", "AB12CD", "aB12Cd"] { expectAccepted(wire.push(to: token)) }
    }

    @Test("row 51: a production token on the sandbox") func row51() throws {
        let wire = try Wire { _, state in
            state.add(Device(token: "aa01", bundleID: "com.example.app", environment: .production))
        }
        expectRefused(wire.push(to: "aa01"), 400, #"{"reason":"BadDeviceToken"}"#)
        expectAccepted(wire.at(Wire.Place.production).push(to: "aa01"), in: .production)
    }

    @Test("row 52: a token of another app") func row52() throws {
        let wire = try Wire { _, state in
            state.addApp(bundleID: "com.example.other", teamID: "TEAM000001")
            state.add(Device(token: "aa01", bundleID: "com.example.other", environment: .sandbox))
        }
        expectRefused(wire.push(to: "aa01"), 400, #"{"reason":"DeviceTokenNotForTopic"}"#)
        expectAccepted(wire.push([":path": "/3/device/aa01", "apns-topic": "com.example.other"]))
    }

    @Test("row 53: an unknown header") func row53() throws {
        expectAccepted(try Wire().push(more: [("x-mine", "1"), ("apns-new-idea", "2"), ("x-mine", "3")]))
    }
}
