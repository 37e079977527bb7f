import APNSProtocol
import APNSSimulator
import BrokerTopology
import JSON
import TestKit
import Testing

@testable import Delivery

/// Broadcasts to channels, on virtual time.
@Suite struct LaneBroadcastTests {
    private static let newest = "bmV3ZXN0LW5ld2VzdA=="
    private static let none = "bm9uZS1ub25lLW5vbmU="
    /// A channel of the other environment.
    private static let elsewhere = "ZWxzZS1lbHNlLWVsc2U="

    /// Returns a fixture with one app that may broadcast, a channel of each storage policy, and a channel in
    /// the other environment.
    private static func fixture() throws -> LaneAPNSHarness {
        let fixture = try LaneAPNSHarness()
        fixture.harness.onLoop { enable(fixture) }
        return fixture
    }

    private static func enable(_ fixture: LaneAPNSHarness) {
        let app = SimulatedApps.bundleID(0)
        fixture.apns.state.addApp(bundleID: app, teamID: SimulatedApps.teamID(0), allowsBroadcasts: true)
        for (id, policy) in [(newest, Channel.StoragePolicy.newest), (none, .none)] {
            fixture.apns.state.add(Channel(id: id, bundleID: app, environment: .sandbox, storagePolicy: policy))
        }
        fixture.apns.state.add(
            Channel(id: elsewhere, bundleID: app, environment: .production, storagePolicy: .newest))
    }

    private static func message(_ number: Int, _ channel: String, expiration: Int64? = nil, bytes: Int = 0) -> String {
        #"""
        {"id":"\#(LaneAPNSHarness.id(number))","app":"\#(SimulatedApps.bundleID(0))","channel_id":"\#(channel)",
         "push_type":"liveactivity"\#(expiration.map { #","expiration":\#($0)"# } ?? ""),
         "payload":{"aps":{"timestamp":1750000000,"event":"update","content-state":{"x":"\#(String(repeating: "x", count: bytes))"}}}}
        """#
    }

    private static func results(_ fixture: LaneAPNSHarness) throws -> [JSONDocument] {
        try (fixture.harness.queue(fixture.harness.names.resultsQueue)?.ready ?? []).map { try JSONDocument($0.body) }
    }

    @Test func aBroadcastIsAcceptedAndReported() throws {
        let fixture = try Self.fixture()
        fixture.harness.request(Self.message(0, Self.newest, expiration: 9_999_999_999))
        fixture.harness.request(Self.message(1, Self.none))
        fixture.harness.request(Self.message(2, Self.none, expiration: 0))
        try #require(fixture.harness.run { fixture.results == 3 })
        for result in try Self.results(fixture).map(\.root) {
            let id = try #require(result["id"]?.string)
            #expect(result["outcome"]?.string == "accepted" && result["status"]?.int == 200)
            #expect(result["channel_id"]?.string == (id == LaneAPNSHarness.id(0) ? Self.newest : Self.none))
            #expect(result["apns_request_id"]?.string?.lowercased() == id)
            #expect(result["apns_unique_id"] != nil && result["token_state"] == nil && result["device_token"] == nil)
        }
        #expect(fixture.harness.deadLetters.isEmpty)
    }

    @Test func theResultOfADuplicateHasNoTokenStateEither() throws {
        let fixture = try Self.fixture()
        for _ in 0..<2 {
            let results = fixture.results
            fixture.harness.request(Self.message(0, Self.newest, expiration: 9_999_999_999))
            try #require(fixture.harness.run { fixture.results == results + 1 })
        }
        let duplicate = try #require(try Self.results(fixture).map(\.root).first { $0["duplicate"]?.bool == true })
        #expect(duplicate["outcome"]?.string == "accepted" && duplicate["token_state"] == nil)
    }

    /// Rows 126 to 129 of the conformance table, which are refusals of a single request.
    @Test(arguments: [
        (String(repeating: "abcd", count: 17), Int64?.none, "BadChannelId"),
        ("dW5rbm93bi11bmtub3du", nil, "ChannelNotRegistered"), (elsewhere, nil, "ChannelNotRegistered"),
        (none, 9_999_999_999, "BadExpirationDate"),
    ])
    func aRefusalConcernsOnlyItsBroadcast(channel: String, expiration: Int64?, reason: String) throws {
        let fixture = try Self.fixture()
        fixture.harness.request(Self.message(0, channel, expiration: expiration))
        try #require(fixture.harness.run { fixture.results == 1 })
        let result = try #require(try Self.results(fixture).first).root
        #expect(result["outcome"]?.string == "rejected" && result["reason"]?.string == reason)
        #expect(result["token_state"] == nil && result["apns_request_id"] != nil)
        #expect(fixture.harness.deadLetters.count == 1)
        #expect(fixture.harness.isReady)
    }

    /// Row 137 of the conformance table. The lane refuses the payload without a request to APNs.
    @Test func aTooLargePayloadIsNotSent() throws {
        let fixture = try Self.fixture()
        let bytes = 5120 - 74
        fixture.harness.request(Self.message(0, Self.newest, bytes: bytes))
        fixture.harness.request(Self.message(1, Self.newest, bytes: bytes + 1))
        try #require(fixture.harness.run { fixture.results == 2 })
        #expect(try Self.results(fixture).map { $0.root["outcome"]?.string } == ["invalid", "accepted"])
        #expect(fixture.pushes.map(\.status) == [200])
        #expect(fixture.pushes.first?.payloadByteCount == 5120)
    }

    /// Rows 136 and 156 of the conformance table. Broadcasts are held, and pushes to devices continue.
    @Test func anAppWithoutBroadcastsDelaysNoOtherPushes() throws {
        let fixture = try LaneAPNSHarness()
        fixture.harness.request(Self.message(0, Self.newest))
        fixture.request(5, from: 10)
        try #require(fixture.harness.run { fixture.results == 5 })
        let breakers = try #require(fixture.harness.status()).breakers
        #expect(breakers.map(\.code) == ["FeatureNotEnabled"])
        #expect(breakers[0].route.hasSuffix("topic \(SimulatedApps.bundleID(0))/broadcasts"), "\(breakers)")
        #expect(breakers[0].sentence.contains("Broadcasts are not enabled"), "\(breakers)")
        fixture.harness.onLoop { Self.enable(fixture) }
        #expect(fixture.harness.run { fixture.results == 6 })
        #expect(try Self.results(fixture).allSatisfy { $0.root["outcome"]?.string == "accepted" })
    }

    /// Row 135 of the conformance table. APNs refuses broadcasts to an app of another team.
    @Test func anAppOfAnotherTeamDelaysOnlyItself() throws {
        let fixture = try LaneAPNSHarness(apps: 2)
        fixture.harness.onLoop {
            fixture.apns.state.addApp(bundleID: SimulatedApps.bundleID(0), teamID: "OTHERTEAM1", allowsBroadcasts: true)
        }
        fixture.harness.request(Self.message(0, Self.newest))
        fixture.request(5, from: 10, app: 1)
        try #require(fixture.harness.run { fixture.results == 5 })
        let breakers = try #require(fixture.harness.status()).breakers
        #expect(breakers.map(\.code) == ["TopicMismatch"])
        #expect(breakers[0].route.hasSuffix("topic \(SimulatedApps.bundleID(0))/broadcasts"), "\(breakers)")
        fixture.harness.onLoop { Self.enable(fixture) }
        #expect(fixture.harness.run { fixture.results == 6 })
        #expect(try Self.results(fixture).allSatisfy { $0.root["outcome"]?.string == "accepted" })
    }

    /// A result repeats the channel of an invalid request if the channel has a plausible length.
    @Test(arguments: [(510, true), (511, false)]) func anInvalidBroadcastReportsItsChannel(
        _ bytes: Int, _ isReported: Bool
    ) throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        let channel = String(repeating: "a", count: bytes)
        harness.request(#"{"app":"com.example.shop","channel_id":"\#(channel)","payload":{}}"#)
        try #require(harness.run { harness.queue(harness.names.resultsQueue)?.ready.count == 1 })
        let result = try #require(harness.queue(harness.names.resultsQueue)?.ready.first)
        #expect(try JSONDocument(result.body).root["channel_id"]?.string == (isReported ? channel : nil))
    }
}
