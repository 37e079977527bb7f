import APNSProtocol
import Testing

@testable import APNSSimulator

@Suite struct ChannelRulesTests {
    private var apns: Conversation

    init() throws {
        apns = try Conversation(Provider())
        apns.connection = ConnectionMemory(service: Service(.sandbox, .channelManagement))
        apns.state.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: true)
    }

    private mutating func answer(
        _ method: String, _ path: String = "/1/apps/com.example.app/channels", id: String? = nil,
        more: [(String, String)] = [], body: String = ""
    ) -> Answer {
        var headers = [(":method", method), (":path", path), ("authorization", "bearer \(apns.token)")]
        if let id { headers.append(("apns-channel-id", id)) }
        return apns.answer(to: headers + more, body: body)
    }

    private mutating func text(
        _ method: String, _ path: String = "/1/apps/com.example.app/channels", id: String? = nil,
        more: [(String, String)] = [], body: String = ""
    ) -> String {
        apns.text(of: answer(method, path, id: id, more: more, body: body))
    }

    private mutating func create(_ body: String = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#) -> String
    {
        text("POST", body: body)
    }

    private static let list = "/1/apps/com.example.app/all-channels"

    @Test mutating func channelsAreCreatedReadListedAndDeleted() throws {
        #expect(text("GET", Self.list) == #"200 {"channels":[]}"#)
        let made = answer("POST", body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        #expect(made.status == 201 && made.body == .none)
        let id = try #require(made.channelID)
        #expect(Channel.isWellFormedID(id.utf8) && id.count == 24)
        let second = try #require(
            answer("POST", body: #"{"push-type":"liveactivity","message-storage-policy":0}"#).channelID)
        #expect(second != id)
        #expect(text("GET", id: id) == #"200 {"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        #expect(text("GET", id: second) == #"200 {"message-storage-policy":0,"push-type":"LiveActivity"}"#)
        #expect(text("GET", Self.list) == #"200 {"channels":["\#(id)","\#(second)"]}"#)
        #expect(text("DELETE", id: id) == "204")
        #expect(text("DELETE", id: id) == #"400 {"reason":"ChannelNotRegistered"}"#)
        #expect(text("GET", id: id) == #"400 {"reason":"ChannelNotRegistered"}"#)
        #expect(text("GET", Self.list) == #"200 {"channels":["\#(second)"]}"#)
    }

    @Test(arguments: [
        (#"{"message-storage-policy":1,"push-type":"LiveActivity","name":"x"}"#, "BadRequestParams"),
        (#"{"message-storage-policy":1,"#, "BadRequestPayload"), ("[]", "BadRequestPayload"),
        ("", "PayloadEmpty"), (#"{"push-type":"LiveActivity"}"#, "MissingChannelQueueSize"),
        (#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, "MissingChannelQueueSize"),
        (#"{"message-storage-policy":"1","push-type":"LiveActivity"}"#, "MissingChannelQueueSize"),
        (#"{"message-storage-policy":1,"push-type":"Alert"}"#, "InvalidPushType"),
        (#"{"message-storage-policy":1,"push-type":7}"#, "InvalidPushType"),
        (#"{"message-storage-policy":1}"#, "MissingPushType"),
    ])
    func bodiesAreChecked(body: String, reason: String) throws {
        var tests = self
        #expect(tests.create(body) == #"400 {"reason":"\#(reason)"}"#)
        #expect(tests.apns.state.allChannels.isEmpty)
    }

    @Test mutating func bodyLengthIsLimited() {
        #expect(create(String(repeating: " ", count: 6000)) == #"413 {"reason":"PayloadTooLarge"}"#)
    }

    @Test mutating func anAppHasTenThousandChannelsInEachEnvironment() {
        for number in 0..<9999 {
            apns.state.add(
                Channel(
                    id: "channel\(number)", bundleID: "com.example.app", environment: .sandbox, storagePolicy: .none))
        }
        #expect(create() == "201")
        #expect(create() == #"400 {"reason":"CannotCreateChannelConfig"}"#)
        apns.connection = ConnectionMemory(service: Service(.production, .channelManagement))
        #expect(create() == "201")
    }

    @Test mutating func idsAreRequired() {
        for method in ["GET", "DELETE"] {
            #expect(text(method) == #"400 {"reason":"MissingChannelId"}"#)
            #expect(text(method, id: "%%%") == #"400 {"reason":"BadChannelId"}"#)
        }
        #expect(text("GET", Self.list, more: [("apns-request-id", "mine")]) == #"400 {"reason":"BadMessageId"}"#)
    }

    @Test mutating func pathsAndMethods() {
        for bad in [
            "/1/apps/x/foo", "/1/apps/com.example.app", "/1/apps//channels", "/1/apps/com.example.app/channels/",
            "/2/apps/com.example.app/channels", "/3/device/abcd", "/4/broadcasts/apps/com.example.app", "",
        ] {
            #expect(text("GET", bad) == #"404 {"reason":"BadPath"}"#, "\(bad)")
        }
        for (method, path) in [
            ("PUT", "/1/apps/com.example.app/channels"), ("POST", Self.list), ("DELETE", Self.list),
        ] {
            apns.state.rules.wrongMethodReason = .methodNotAllowed
            #expect(text(method, path) == #"405 {"reason":"MethodNotAllowed"}"#)
            apns.state.rules.wrongMethodReason = .badPath
            #expect(text(method, path) == #"404 {"reason":"BadPath"}"#)
        }
    }

    @Test mutating func onlyTheTeamsAppsWithBroadcasts() throws {
        #expect(text("GET", "/1/apps/com.other.app/all-channels") == #"403 {"reason":"TopicMismatch"}"#)
        #expect(
            text("GET", "/1/apps/com.example.app.push-type.liveactivity/all-channels")
                == #"400 {"reason":"TopicDisallowed"}"#)
        #expect(create() == "201")
        apns.state.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: false)
        #expect(text("GET", Self.list) == #"400 {"reason":"FeatureNotEnabled"}"#)
        apns.state.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: true)
        #expect(text("GET", Self.list) == #"200 {"channels":[]}"#)
        apns.token = "none"
        #expect(text("GET", Self.list) == #"403 {"reason":"InvalidProviderToken"}"#)
    }
}
