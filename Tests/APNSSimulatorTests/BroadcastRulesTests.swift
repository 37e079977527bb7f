import APNSProtocol
import EventLoop
import Testing

@testable import APNSSimulator

// These tests repeat statuses and reasons as literals, as Apple prints them.

private let stored = "dHN0LXNyY2gtY2hubA=="
private let unstored = "AAAAAAAAAAAAAAAAAAAAAA=="

@Suite struct BroadcastRulesTests {
    private var apns: Conversation

    init() throws {
        apns = try Conversation(Provider())
        apns.state.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: true)
        for (id, policy) in [(stored, .newest), (unstored, .none)] as [(String, Channel.StoragePolicy)] {
            apns.state.add(
                Channel(id: id, bundleID: "com.example.app", environment: .sandbox, storagePolicy: policy))
        }
    }

    /// Sends a valid broadcast with changed headers; nil removes a header. Returns the answer.
    private mutating func broadcast(
        _ changes: [String: String?] = [:], more: [(String, String)] = [],
        body: String = #"{"aps":{"event":"update"}}"#
    ) -> String {
        var headers = [
            ":method": "POST", ":path": "/4/broadcasts/apps/com.example.app",
            "authorization": "bearer \(apns.token)", "apns-channel-id": stored, "apns-push-type": "liveactivity",
            "apns-expiration": "1760003600", "apns-priority": "10",
        ]
        for (name, value) in changes { headers[name] = value }
        return apns.text(of: apns.answer(to: headers.sorted { $0.key < $1.key } + more, body: body))
    }

    @Test mutating func validBroadcastIsAccepted() {
        #expect(broadcast() == "200")
        #expect(broadcast(["apns-channel-id": unstored, "apns-expiration": "0"]) == "200")
        #expect(broadcast(["apns-request-id": "EABEAE54-14A8-11E5-B60B-1697F925EC7B"]) == "200")
    }

    @Test mutating func channelIDsAreWellFormedAndRegistered() {
        #expect(broadcast(["apns-channel-id": nil]) == #"400 {"reason":"MissingChannelId"}"#)
        let long = String(repeating: "A", count: 68)
        for bad in ["%%%", "", "abc", "====", "A===", "ab-_", "AA=A", long] {
            #expect(broadcast(["apns-channel-id": bad]) == #"400 {"reason":"BadChannelId"}"#, "\(bad)")
        }
        #expect(broadcast(["apns-channel-id": "BBBBBBBBBBBBBBBBBBBBBB=="]) == #"400 {"reason":"ChannelNotRegistered"}"#)
        apns.state.removeChannel(id: stored, bundleID: "com.example.app", environment: .sandbox)
        #expect(broadcast() == #"400 {"reason":"ChannelNotRegistered"}"#)
    }

    @Test mutating func channelsOfAnotherEnvironmentAreUnknown() {
        apns.connection = ConnectionMemory(service: .productionPush)
        #expect(broadcast() == #"400 {"reason":"ChannelNotRegistered"}"#)
    }

    @Test mutating func channelsWithoutStorageRequireExpirationZero() {
        let badDate = #"400 {"reason":"BadExpirationDate"}"#
        #expect(broadcast(["apns-channel-id": unstored]) == badDate)
        #expect(broadcast(["apns-expiration": "soon"]) == badDate)
        #expect(broadcast(["apns-expiration": nil]) == "200")
        apns.state.rules.demandsBroadcastExpiration = true
        #expect(broadcast(["apns-expiration": nil]) == badDate)
    }

    @Test mutating func onlyLiveActivitiesInAnySpelling() {
        for good in ["liveactivity", "LiveActivity", "Liveactivity"] {
            #expect(broadcast(["apns-push-type": good]) == "200")
        }
        #expect(broadcast(["apns-push-type": nil]) == #"400 {"reason":"MissingPushType"}"#)
        for bad in ["alert", "", "liveactivities"] {
            #expect(broadcast(["apns-push-type": bad]) == #"400 {"reason":"InvalidPushType"}"#)
        }
    }

    @Test mutating func thePathHasABundleIDOfTheTeam() {
        let path = "/4/broadcasts/apps/com.example.app"
        #expect(broadcast([":path": path + ".push-type.liveactivity"]) == #"400 {"reason":"TopicDisallowed"}"#)
        #expect(broadcast([":path": "/4/broadcasts/apps/com.other.app"]) == #"403 {"reason":"TopicMismatch"}"#)
        apns.state.addApp(bundleID: "com.example.quiet", teamID: "TEAM000001")
        apns.connection = ConnectionMemory()
        #expect(broadcast([":path": "/4/broadcasts/apps/com.example.quiet"]) == #"400 {"reason":"FeatureNotEnabled"}"#)
        for bad in ["/4/broadcasts/apps/", path + "/", path + "/x", "/4/broadcasts/com.example.app"] {
            #expect(broadcast([":path": bad]).hasSuffix(#"{"reason":"BadPath"}"#), "\(bad)")
        }
    }

    @Test mutating func wrongMethodReasonIsASwitch() {
        #expect(broadcast([":method": "GET"]) == #"405 {"reason":"MethodNotAllowed"}"#)
        apns.state.rules.wrongMethodReason = .badPath
        #expect(broadcast([":method": "GET"]) == #"404 {"reason":"BadPath"}"#)
    }

    @Test mutating func payloadLimitIsHigher() {
        func body(_ bytes: Int) -> String { #"{"aps":""# + String(repeating: "x", count: bytes - 10) + #""}"# }
        #expect(broadcast(body: body(5120)) == "200")
        #expect(broadcast(body: body(5121)) == #"413 {"reason":"PayloadTooLarge"}"#)
        #expect(broadcast(body: "") == #"400 {"reason":"PayloadEmpty"}"#)
        #expect(broadcast(body: "[]") == #"400 {"reason":"BadRequestPayload"}"#)
    }

    @Test mutating func prioritiesAndIDsAreChecked() {
        #expect(broadcast(["apns-priority": "2"]) == #"400 {"reason":"BadPriority"}"#)
        #expect(broadcast(["apns-priority": nil]) == "200")
        for name in ["apns-request-id", "apns-id"] {
            #expect(broadcast([name: "mine"]) == #"400 {"reason":"BadMessageId"}"#)
        }
        #expect(broadcast(more: [("apns-channel-id", stored)]) == #"400 {"reason":"DuplicateHeaders"}"#)
    }

    @Test mutating func authenticationIsRequired() throws {
        #expect(broadcast(["authorization": nil]) == #"403 {"reason":"MissingProviderToken"}"#)
        apns.now.unixNanoseconds += 3_600_000_000_000
        #expect(broadcast() == #"403 {"reason":"ExpiredProviderToken"}"#)
    }

    @Test mutating func theOrderOfChecksIsASwitch() {
        let changes: [String: String?] = ["authorization": nil, "apns-push-type": nil]
        #expect(broadcast(changes) == #"400 {"reason":"MissingPushType"}"#)
        apns.state.rules.order = .authenticationFirst
        #expect(broadcast(changes) == #"403 {"reason":"MissingProviderToken"}"#)
    }

    @Test mutating func broadcastsToAChannelAreLimited() {
        apns.state.rules.requestsPerChannelMax = 2
        for _ in 0..<2 { #expect(broadcast() == "200") }
        #expect(broadcast() == #"429 {"reason":"TooManyRequests"}"#)
        #expect(broadcast(["apns-channel-id": unstored, "apns-expiration": "0"]) == "200")
        apns.now.unixNanoseconds += 1_000_000_000
        #expect(broadcast() == "200")
    }
}
