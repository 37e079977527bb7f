import APNSProtocol
import Testing

@testable import APNSSimulator

// These tests repeat statuses and reasons as literals, as Apple prints them.

@Suite struct DevicePushHeaderTests {
    private var apns: Conversation

    init() throws { apns = try Conversation(Provider()) }

    @Test mutating func validAlertIsAccepted() {
        #expect(apns.push() == "200")
    }

    @Test mutating func idsAreUUIDs() {
        #expect(apns.push(["apns-id": nil]) == "200")
        #expect(apns.push(["apns-id": "EABEAE54-14A8-11E5-B60B-1697F925EC7B"]) == "200")
        for bad in ["not-a-uuid", "", "eabeae54-14a8-11e5-b60b-1697f925ec7", "eabeae5414a811e5b60b1697f925ec7b"] {
            #expect(apns.push(["apns-id": bad]) == #"400 {"reason":"BadMessageId"}"#)
        }
    }

    @Test mutating func prioritiesAreOneFiveAndTen() {
        for good in ["1", "5", "10", nil] { #expect(apns.push(["apns-priority": good]) == "200") }
        for bad in ["7", "high", ""] {
            #expect(apns.push(["apns-priority": bad]) == #"400 {"reason":"BadPriority"}"#)
        }
    }

    @Test func backgroundPushesHavePriorityFive() throws {
        var lax = RuleOptions()
        lax.backgroundImmediateReason = nil
        for (options, answer) in [(RuleOptions(), #"400 {"reason":"BadPriority"}"#), (lax, "200")] {
            var apns = try Conversation(Provider(), options: options)
            #expect(apns.push(["apns-push-type": "background", "apns-priority": "10"]) == answer)
            #expect(apns.push(["apns-push-type": "background", "apns-priority": "5"]) == "200")
        }
    }

    @Test mutating func expirationsAreUnixSeconds() {
        for good in ["0", "1", "1760000000", nil] { #expect(apns.push(["apns-expiration": good]) == "200") }
        for bad in ["abc", "", "-1", "1.5", "17600000000000000000000"] {
            #expect(apns.push(["apns-expiration": bad]) == #"400 {"reason":"BadExpirationDate"}"#)
        }
    }

    @Test mutating func collapseIDsHaveSixtyFourBytes() {
        #expect(apns.push(["apns-collapse-id": String(repeating: "c", count: 64)]) == "200")
        #expect(apns.push(["apns-collapse-id": String(repeating: "é", count: 32)]) == "200")
        for bad in [String(repeating: "c", count: 65), String(repeating: "é", count: 33)] {
            #expect(apns.push(["apns-collapse-id": bad]) == #"400 {"reason":"BadCollapseId"}"#)
        }
    }

    @Test mutating func pushTypesAreKnownOrAbsent() {
        #expect(apns.push(["apns-push-type": nil]) == "200")
        for bad in ["foo", "Alert", ""] {
            #expect(apns.push(["apns-push-type": bad]) == #"400 {"reason":"InvalidPushType"}"#)
        }
    }

    @Test mutating func topicsArePresentAndWellFormed() {
        #expect(apns.push(["apns-topic": nil]) == #"400 {"reason":"MissingTopic"}"#)
        for bad in ["", "com.example app", "com.example.app\u{0}", "com/example", String(repeating: "a", count: 256)] {
            #expect(apns.push(["apns-topic": bad]) == #"400 {"reason":"BadTopic"}"#)
        }
    }

    @Test mutating func topicsBelongToTheTeam() {
        #expect(apns.push(["apns-topic": "com.other.app"]) == #"400 {"reason":"TopicDisallowed"}"#)
        #expect(apns.push() == "200")
    }

    @Test(arguments: [
        ("alert", ""), ("background", ""), ("complication", ".complication"), ("controls", ".push-type.controls"),
        ("fileprovider", ".pushkit.fileprovider"), ("liveactivity", ".push-type.liveactivity"),
        ("location", ".location-query"), ("mdm", ""), ("pushtotalk", ".voip-ptt"), ("voip", ".voip"),
        ("widgets", ".push-type.widgets"),
    ])
    func everyPushTypeHasItsSuffix(type: String, suffix: String) throws {
        var apns = try Conversation(Provider())
        #expect(apns.push(type: type, topic: "com.example.app\(suffix)") == "200")
        #expect(apns.push(type: type, topic: "com.example.app.x\(suffix)") == #"400 {"reason":"TopicDisallowed"}"#)
        if !suffix.isEmpty {
            #expect(apns.push(type: type, topic: "com.example.app") == #"400 {"reason":"TopicDisallowed"}"#)
            #expect(apns.push(type: type, topic: suffix) == #"400 {"reason":"TopicDisallowed"}"#)
            #expect(apns.push(type: nil, topic: "com.example.app\(suffix)") == "200")
        }
    }

    @Test mutating func repeatedHeadersAreRefusedAndUnknownOnesIgnored() {
        #expect(apns.push(more: [("apns-topic", "com.example.app")]) == #"400 {"reason":"DuplicateHeaders"}"#)
        #expect(apns.push(more: [("x-mine", "1"), ("x-mine", "2"), ("cookie", "a"), ("apns-idx", "b")]) == "200")
    }

    @Test mutating func onlyPOSTToTheDevicePathIsAllowed() {
        for method in ["GET", "PUT", "post", ""] {
            #expect(apns.push([":method": method]) == #"405 {"reason":"MethodNotAllowed"}"#)
        }
        for path in ["/", "", "/3/devices/ab", "/2/device/ab", "/3/device", "/1/apps/com.example.app/channels"] {
            #expect(apns.push([":path": path]) == #"404 {"reason":"BadPath"}"#)
        }
    }
}

@Suite struct DevicePushTargetTests {
    private var apns: Conversation

    init() throws { apns = try Conversation(Provider()) }

    private func path(_ token: String) -> [String: String?] { [":path": "/3/device/\(token)"] }

    @Test mutating func deviceTokensAreHexadecimalOfAnySize() {
        #expect(apns.push(path("")) == #"400 {"reason":"MissingDeviceToken"}"#)
        for bad in ["xyz0", "abc", "ab/cd", "ab ", String(repeating: "ab", count: 201)] {
            #expect(apns.push(path(bad)) == #"400 {"reason":"BadDeviceToken"}"#)
        }
        for digits in [32, 64, 108, 160] { #expect(apns.push(path(String(repeating: "a", count: digits))) == "200") }
    }

    @Test mutating func registeredDevicesAnswerByTheirCondition() {
        apns.state.unknownDevices = .bad
        let conditions: [(String, DeviceCondition, String)] = [
            ("aa01", .active, "200"),
            (
                "aa02", .unregistered(sinceMilliseconds: 1_454_948_015_990),
                #"410 {"reason":"Unregistered","timestamp":1454948015990}"#
            ),
            ("aa03", .expired(sinceMilliseconds: 7), #"410 {"reason":"ExpiredToken","timestamp":7}"#),
            ("aa04", .bad, #"400 {"reason":"BadDeviceToken"}"#),
            ("aa05", .notForTopic, #"400 {"reason":"DeviceTokenNotForTopic"}"#),
        ]
        for (token, condition, _) in conditions {
            apns.state.add(
                Device(token: token, bundleID: "com.example.app", environment: .sandbox, condition: condition))
        }
        for (token, _, answer) in conditions {
            #expect(apns.push(path(token)) == answer)
            #expect(apns.push(path(token.uppercased())) == answer)
        }
        #expect(apns.push(path("aa06")) == #"400 {"reason":"BadDeviceToken"}"#)
    }

    @Test mutating func tokensOfAnotherEnvironmentOrAppAreRefused() {
        apns.state.add(Device(token: "AA01", bundleID: "com.example.app", environment: .production))
        apns.state.add(Device(token: "aa02", bundleID: "com.example.other", environment: .sandbox))
        #expect(apns.push(path("aa01")) == #"400 {"reason":"BadDeviceToken"}"#)
        #expect(apns.push(path("aa02")) == #"400 {"reason":"DeviceTokenNotForTopic"}"#)
    }

    @Test mutating func equalTokensReplaceADevice() {
        apns.state.add(Device(token: "aa01", bundleID: "com.example.app", environment: .sandbox, condition: .bad))
        apns.state.add(Device(token: "AA01", bundleID: "com.example.app", environment: .sandbox))
        #expect(apns.push(path("aa01")) == "200")
        #expect(apns.state.deviceCount == 1)
    }

    @Test mutating func rulesByPrefixDecideAboutUnknownTokens() {
        apns.state.deviceRules = [
            DeviceRule(prefix: "DEAD", condition: .unregistered(sinceMilliseconds: 1)),
            DeviceRule(prefix: "de", condition: .bad),
        ]
        apns.state.add(Device(token: "dead00", bundleID: "com.example.app", environment: .sandbox))
        #expect(apns.push(path("dead01")) == #"410 {"reason":"Unregistered","timestamp":1}"#)
        #expect(apns.push(path("DeAd01")) == #"410 {"reason":"Unregistered","timestamp":1}"#)
        #expect(apns.push(path("de00")) == #"400 {"reason":"BadDeviceToken"}"#)
        #expect(apns.push(path("dead00")) == "200")
        #expect(apns.push(path("ab00")) == "200")
    }
}

@Suite struct DevicePushPayloadTests {
    private var apns: Conversation

    init() throws { apns = try Conversation(Provider()) }

    /// Returns a JSON object of exactly this number of bytes if `character` has one byte in UTF-8. Otherwise, the
    /// object has at most this number of bytes.
    private func body(bytes: Int, of character: String = "x") -> String {
        let frame = #"{"aps":{"alert":""}}"#.utf8.count
        return #"{"aps":{"alert":""# + String(repeating: character, count: (bytes - frame) / character.utf8.count)
            + #""}}"#
    }

    @Test mutating func limitsAreInBytesAndByPushType() {
        let voip: [String: String?] = ["apns-push-type": "voip", "apns-topic": "com.example.app.voip"]
        let tooLarge = #"413 {"reason":"PayloadTooLarge"}"#
        #expect(apns.push(body: body(bytes: 4096)) == "200")
        #expect(apns.push(body: body(bytes: 4097)) == tooLarge)
        #expect(apns.push(body: body(bytes: 4200, of: "é")) == tooLarge)
        #expect(apns.push(["apns-push-type": nil], body: body(bytes: 4097)) == tooLarge)
        #expect(apns.push(voip, body: body(bytes: 5120)) == "200")
        #expect(apns.push(voip, body: body(bytes: 5121)) == tooLarge)
        #expect(apns.push(voip, body: body(bytes: 100_000)) == tooLarge)
        #expect(
            apns.push(
                type: "liveactivity", topic: "com.example.app.push-type.liveactivity", body: body(bytes: 4097))
                == tooLarge)
    }

    @Test mutating func payloadsAreJSONObjects() {
        for bad in ["", "[]", "Hi", "{", "{\"aps\":}", "\u{1F}\u{8B}"] {
            #expect(apns.push(body: bad) == #"400 {"reason":"PayloadEmpty"}"#)
        }
        #expect(apns.push(["content-encoding": "gzip"]) == #"400 {"reason":"PayloadEmpty"}"#)
        for good in ["{}", #"{"mdm":"magic"}"#, #"{"aps":{"content-changed":true}}"#, #"{"a":1,"a":2}"#, " {} "] {
            #expect(apns.push(body: good) == "200")
        }
    }

    @Test func malformedBodiesCanBeAccepted() throws {
        var options = RuleOptions()
        options.malformedPayloadReason = nil
        var apns = try Conversation(Provider(), options: options)
        #expect(apns.push(body: "Hi") == "200")
        #expect(apns.push(body: "") == #"400 {"reason":"PayloadEmpty"}"#)
    }
}
