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
    /// Of the other environment.
    private static let elsewhere = "ZWxzZS1lbHNlLWVsc2U="

    /// One app that may broadcast, with a channel of each kind, and one in the other environment.
    private static func scene() throws -> LaneAPNSHarness {
        let scene = try LaneAPNSHarness()
        scene.harness.onLoop { enable(scene) }
        return scene
    }

    private static func enable(_ scene: LaneAPNSHarness) {
        let app = SimulatedApps.bundleID(0)
        scene.apns.state.addApp(bundleID: app, teamID: SimulatedApps.teamID(0), allowsBroadcasts: true)
        for (id, policy) in [(newest, Channel.StoragePolicy.newest), (none, .none)] {
            scene.apns.state.add(Channel(id: id, bundleID: app, environment: .sandbox, storagePolicy: policy))
        }
        scene.apns.state.add(
            Channel(id: elsewhere, bundleID: app, environment: .production, storagePolicy: .newest))
    }

    private static func message(_ number: Int, _ channel: String, expiration: Int64? = nil, bytes: Int = 0) -> String {
        #"""
        {"id":"\#(LaneAPNSHarness.id(number))","app":"\#(SimulatedApps.bundleID(0))","channel_id":"\#(channel)",
         "push_type":"liveactivity"\#(expiration.map { #","expiration":\#($0)"# } ?? ""),
         "payload":{"aps":{"timestamp":1750000000,"event":"update","content-state":{"x":"\#(String(repeating: "x", count: bytes))"}}}}
        """#
    }

    private static func results(_ scene: LaneAPNSHarness) throws -> [JSONDocument] {
        try (scene.harness.queue(scene.harness.names.resultsQueue)?.ready ?? []).map { try JSONDocument($0.body) }
    }

    @Test func itIsAcceptedAndTold() throws {
        let scene = try Self.scene()
        scene.harness.request(Self.message(0, Self.newest, expiration: 9_999_999_999))
        scene.harness.request(Self.message(1, Self.none))
        scene.harness.request(Self.message(2, Self.none, expiration: 0))
        try #require(scene.harness.run { scene.results == 3 })
        for result in try Self.results(scene).map(\.root) {
            let id = try #require(result["id"]?.string)
            #expect(result["outcome"]?.string == "accepted" && result["status"]?.int == 200)
            #expect(result["channel_id"]?.string == (id == LaneAPNSHarness.id(0) ? Self.newest : Self.none))
            #expect(result["apns_request_id"]?.string?.lowercased() == id)
            #expect(result["apns_unique_id"] != nil && result["token_state"] == nil && result["device_token"] == nil)
        }
        #expect(scene.harness.deadLetters.isEmpty)
    }

    @Test func theResultOfADuplicateHasNoTokenStateEither() throws {
        let scene = try Self.scene()
        for _ in 0..<2 {
            let results = scene.results
            scene.harness.request(Self.message(0, Self.newest, expiration: 9_999_999_999))
            try #require(scene.harness.run { scene.results == results + 1 })
        }
        let duplicate = try #require(try Self.results(scene).map(\.root).first { $0["duplicate"]?.bool == true })
        #expect(duplicate["outcome"]?.string == "accepted" && duplicate["token_state"] == nil)
    }

    /// Rows 126 to 129: what APNs has against one message.
    @Test(arguments: [
        (String(repeating: "abcd", count: 17), Int64?.none, "BadChannelId"),
        ("dW5rbm93bi11bmtub3du", nil, "ChannelNotRegistered"), (elsewhere, nil, "ChannelNotRegistered"),
        (none, 9_999_999_999, "BadExpirationDate"),
    ])
    func whatIsWrongWithItIsItsOwn(channel: String, expiration: Int64?, reason: String) throws {
        let scene = try Self.scene()
        scene.harness.request(Self.message(0, channel, expiration: expiration))
        try #require(scene.harness.run { scene.results == 1 })
        let result = try #require(try Self.results(scene).first).root
        #expect(result["outcome"]?.string == "rejected" && result["reason"]?.string == reason)
        #expect(result["token_state"] == nil && result["apns_request_id"] != nil)
        #expect(scene.harness.deadLetters.count == 1)
        #expect(scene.harness.isReady)
    }

    /// Row 137, and without asking APNs.
    @Test func whatIsTooLongIsNotSent() throws {
        let scene = try Self.scene()
        let bytes = 5120 - 74
        scene.harness.request(Self.message(0, Self.newest, bytes: bytes))
        scene.harness.request(Self.message(1, Self.newest, bytes: bytes + 1))
        try #require(scene.harness.run { scene.results == 2 })
        #expect(try Self.results(scene).map { $0.root["outcome"]?.string } == ["invalid", "accepted"])
        #expect(scene.pushes.map(\.status) == [200])
        #expect(scene.pushes.first?.payloadByteCount == 5120)
    }

    /// Rows 136 and 156: broadcasts are held up, pushes to devices go on.
    @Test func anAppWithoutBroadcastsHoldsUpNothingElse() throws {
        let scene = try LaneAPNSHarness()
        scene.harness.request(Self.message(0, Self.newest))
        scene.request(5, from: 10)
        try #require(scene.harness.run { scene.results == 5 })
        let breakers = try #require(scene.harness.status()).breakers
        #expect(breakers.map(\.code) == ["FeatureNotEnabled"])
        #expect(breakers[0].route.hasSuffix("topic \(SimulatedApps.bundleID(0))/broadcasts"), "\(breakers)")
        #expect(breakers[0].sentence.contains("Broadcasts are not enabled"), "\(breakers)")
        scene.harness.onLoop { Self.enable(scene) }
        #expect(scene.harness.run { scene.results == 6 })
        #expect(try Self.results(scene).allSatisfy { $0.root["outcome"]?.string == "accepted" })
    }

    /// Row 135.
    @Test func anAppOfAnotherTeamHoldsUpItselfAlone() throws {
        let scene = try LaneAPNSHarness(apps: 2)
        scene.harness.onLoop {
            scene.apns.state.addApp(bundleID: SimulatedApps.bundleID(0), teamID: "OTHERTEAM1", allowsBroadcasts: true)
        }
        scene.harness.request(Self.message(0, Self.newest))
        scene.request(5, from: 10, app: 1)
        try #require(scene.harness.run { scene.results == 5 })
        let breakers = try #require(scene.harness.status()).breakers
        #expect(breakers.map(\.code) == ["TopicMismatch"])
        #expect(breakers[0].route.hasSuffix("topic \(SimulatedApps.bundleID(0))/broadcasts"), "\(breakers)")
        scene.harness.onLoop { Self.enable(scene) }
        #expect(scene.harness.run { scene.results == 6 })
        #expect(try Self.results(scene).allSatisfy { $0.root["outcome"]?.string == "accepted" })
    }
}
