import APNSProtocol
import Testing

// The constants are repeated here as Apple prints them, to detect typos in the shared constants.

@Suite struct ProtocolWordsTests {
    @Test func hostsAndPorts() {
        #expect(APNSEnvironment.production.pushHost == "api.push.apple.com")
        #expect(APNSEnvironment.sandbox.pushHost == "api.sandbox.push.apple.com")
        #expect(APNSEnvironment.production.broadcastHost == "api-broadcast.push.apple.com")
        #expect(APNSEnvironment.sandbox.broadcastHost == "api-broadcast.sandbox.push.apple.com")
        #expect(APNSEnvironment.production.channelHost == "api-manage-broadcast.push.apple.com")
        #expect(APNSEnvironment.sandbox.channelHost == "api-manage-broadcast.sandbox.push.apple.com")
        #expect(APNSEnvironment.production.channelPort == 2196)
        #expect(APNSEnvironment.sandbox.channelPort == 2195)
        #expect(APNSEnvironment.pushPort == 443)
        #expect(APNSEnvironment.pushPortAlternative == 2197)
        #expect(APNSEnvironment.sandboxHostAlias == "api.development.push.apple.com")
    }

    @Test func limits() {
        #expect(APNSLimits.payloadBytesMax == 4096)
        #expect(APNSLimits.payloadBytesMaxVoIP == 5120)
        #expect(APNSLimits.payloadBytesMaxBroadcast == 5120)
        #expect(APNSLimits.collapseIDBytesMax == 64)
        #expect(APNSLimits.providerTokenAgeSecondsMax == 3600)
        #expect(APNSLimits.providerTokenAgeSecondsMin == 1200)
        #expect(APNSLimits.channelsPerAppMax == 10_000)
        #expect(APNSLimits.headerListBytesMax == 8000)
        #expect(APNSLimits.keyIDBytes == 10)
    }

    @Test func headerNames() {
        let names: [(StaticString, String)] = [
            (HeaderName.method, ":method"), (HeaderName.scheme, ":scheme"), (HeaderName.path, ":path"),
            (HeaderName.authority, ":authority"), (HeaderName.status, ":status"), (HeaderName.host, "host"),
            (HeaderName.authorization, "authorization"), (HeaderName.contentType, "content-type"),
            (HeaderName.contentEncoding, "content-encoding"), (HeaderName.retryAfter, "retry-after"),
            (HeaderName.apnsTopic, "apns-topic"), (HeaderName.apnsPushType, "apns-push-type"),
            (HeaderName.apnsID, "apns-id"), (HeaderName.apnsExpiration, "apns-expiration"),
            (HeaderName.apnsPriority, "apns-priority"), (HeaderName.apnsCollapseID, "apns-collapse-id"),
            (HeaderName.apnsUniqueID, "apns-unique-id"), (HeaderName.apnsChannelID, "apns-channel-id"),
            (HeaderName.apnsRequestID, "apns-request-id"),
        ]
        for (name, text) in names { #expect(name.description == text) }
        #expect(RequestPath.devicePrefix.description == "/3/device/")
        #expect(RequestPath.broadcastPrefix.description == "/4/broadcasts/apps/")
        #expect(RequestPath.channelPrefix.description == "/1/apps/")
        #expect(RequestPath.channels.description == "/channels")
        #expect(RequestPath.allChannels.description == "/all-channels")
    }

    @Test(arguments: [
        ("alert", "com.example.app", 4096), ("background", "com.example.app", 4096),
        ("complication", "com.example.app.complication", 4096),
        ("controls", "com.example.app.push-type.controls", 4096),
        ("fileprovider", "com.example.app.pushkit.fileprovider", 4096),
        ("liveactivity", "com.example.app.push-type.liveactivity", 4096),
        ("location", "com.example.app.location-query", 4096), ("mdm", "com.example.app", 4096),
        ("pushtotalk", "com.example.app.voip-ptt", 4096), ("voip", "com.example.app.voip", 5120),
        ("widgets", "com.example.app.push-type.widgets", 4096),
    ])
    func pushTypes(word: String, topic: String, payloadBytesMax: Int) throws {
        let type = try #require(withBytes(word) { PushType($0) })
        #expect(type.rawValue == word)
        #expect(type.wireText.description == word)
        #expect(String(decoding: type.topic(bundleID: "com.example.app".utf8), as: UTF8.self) == topic)
        #expect(withBytes(topic) { type.bundleIDByteCount(inTopic: $0) } == 15)
        #expect(type.payloadBytesMax == payloadBytesMax)
    }

    @Test func parsesExactlyElevenPushTypes() {
        #expect(PushType.allCases.count == 11)
        for word in ["", "foo", "Alert", "alert ", "aler", "VOIP"] { #expect(withBytes(word) { PushType($0) } == nil) }
    }

    @Test func aTopicNeedsItsSuffixAndABundleID() {
        #expect(withBytes("com.example.app") { PushType.voip.bundleIDByteCount(inTopic: $0) } == nil)
        #expect(withBytes(".voip") { PushType.voip.bundleIDByteCount(inTopic: $0) } == nil)
        #expect(withBytes("") { PushType.alert.bundleIDByteCount(inTopic: $0) } == nil)
    }

    @Test func priorities() {
        #expect(withBytes("10") { Priority($0) } == .immediate)
        #expect(withBytes("5") { Priority($0) } == .considerate)
        #expect(withBytes("1") { Priority($0) } == .powerFirst)
        for word in ["", "7", "high", "010", "5 ", "05"] { #expect(withBytes(word) { Priority($0) } == nil) }
        #expect(PushType.background.defaultPriority == .considerate)
        #expect(PushType.alert.defaultPriority == nil)
        #expect(PushType.allCases.filter { $0.certificateNeed == .impossible } == [.location])
        #expect(PushType.allCases.filter { $0.certificateNeed == .topic } == [.complication, .pushtotalk, .voip])
    }

    @Test func deviceTokens() {
        for digits in [2, 32, 64, 108, 160, 400] {
            #expect(DeviceToken.isWellFormed(String(repeating: "aF", count: digits / 2).utf8))
        }
        for bad in ["", "a", "abc", "zz", "a ", "a-", "٠٠", "0x"] { #expect(!DeviceToken.isWellFormed(bad.utf8)) }
        #expect(!DeviceToken.isWellFormed(String(repeating: "ab", count: 201).utf8))
    }

    @Test(arguments: [0, 7, 8, 15, 16, 17])
    func eachByteOfADeviceTokenIsChecked(position: Int) {
        for byte in UInt8.min...UInt8.max {
            var token = Array("0123456789abcdefAF".utf8)
            token[position] = byte
            #expect(DeviceToken.isWellFormed(token) == (byte < 0x80 && Character(Unicode.Scalar(byte)).isHexDigit))
        }
    }

    @Test func shortenedDeviceTokensDoNotRevealTheToken() {
        #expect(DeviceToken.shortened(String(repeating: "0123456789abcdef", count: 4).utf8) == "01234567…+56")
        #expect(DeviceToken.shortened("abcd".utf8) == "ab…+2")
        #expect(DeviceToken.shortened("".utf8) == "…+0")
        #expect(DeviceToken.shortened("\u{1B}[2Ja0b1".utf8) == "??2?…+4")
    }

    @Test func requestIDs() {
        #expect(APNSRequestID.isWellFormed("eabeae54-14a8-11e5-b60b-1697f925ec7b".utf8))
        #expect(APNSRequestID.isWellFormed("EABEAE54-14A8-11E5-B60B-1697F925EC7B".utf8))
        for bad in [
            "", "not-a-uuid", "eabeae54-14a8-11e5-b60b-1697f925ec7", "eabeae5414a811e5b60b1697f925ec7b",
            "eabeae54-14a8-11e5-b60b-1697f925ec7g", "eabeae54-14a8-11e5-b60b1-697f925ec7b",
        ] {
            #expect(!APNSRequestID.isWellFormed(bad.utf8))
        }
    }
}

func withBytes<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Array(text.utf8).withUnsafeBytes { body($0) }
}
