import APNSProtocol
import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// Rows 124 to 141 of the conformance table: broadcasts to a channel.
@Suite struct BroadcastConformanceTests {
    private static let stored = "dHN0LXNyY2gtY2hubA=="
    private static let unstored = "AAAAAAAAAAAAAAAAAAAAAA=="
    private static let path = "/4/broadcasts/apps/com.example.app"

    private let wire: Wire

    init() throws {
        wire = try Wire { _, state in
            state.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: true)
            state.addApp(bundleID: "com.example.quiet", teamID: "TEAM000001")
            for (id, policy) in [(Self.stored, .newest), (Self.unstored, .none)] as [(String, Channel.StoragePolicy)] {
                state.add(Channel(id: id, bundleID: "com.example.app", environment: .sandbox, storagePolicy: policy))
            }
        }
    }

    /// Sends a valid broadcast with changed fields; nil removes a field. Returns the answer.
    private func broadcast(
        _ changes: [String: String?] = [:], body: String = #"{"aps":{"event":"update"}}"#, at place: Endpoint? = nil
    ) -> WireAnswer {
        let wire = place.map(wire.at) ?? wire
        let good: [(String, String)] = [
            (":method", "POST"), (":scheme", "https"), (":path", Self.path), (":authority", "apns"),
            ("authorization", "bearer \(wire.apns.token)"), ("apns-request-id", Wire.id),
            ("apns-channel-id", Self.stored), ("apns-push-type", "liveactivity"), ("apns-priority", "10"),
            ("apns-expiration", "\(wire.loop.now.unixSeconds + 3600)"),
        ]
        let fields = good.compactMap { name, value in (changes[name] ?? value).map { (name, $0) } }
        return wire.exchange(fields, body: Array(body.utf8))
    }

    private func expectAccepted(_ answer: WireAnswer, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(answer.line == "200" && answer.frames == ["HEADERS end_stream"], sourceLocation: sourceLocation)
        #expect(
            answer.headers.map(\.name) == [":status", "apns-request-id", "apns-unique-id"],
            sourceLocation: sourceLocation)
        #expect(answer["apns-request-id"] == Wire.id, sourceLocation: sourceLocation)
    }

    private func expectRefused(
        _ answer: WireAnswer, _ status: Int, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.line == #"\#(status) {"reason":"\#(reason)"}"#, sourceLocation: sourceLocation)
        #expect(answer.frames == ["HEADERS", "DATA end_stream"], sourceLocation: sourceLocation)
        #expect(
            answer.headers.map(\.name) == [":status", "apns-request-id", "content-type"],
            sourceLocation: sourceLocation)
        #expect(answer["content-type"] == "application/json", sourceLocation: sourceLocation)
    }

    @Test("row 124: a good broadcast to a channel that stores") func row124() {
        let answers = [broadcast(), broadcast()]
        for answer in answers {
            expectAccepted(answer)
            #expect(isLowerCaseUUID(answer["apns-unique-id"] ?? ""))
        }
        #expect(answers[0]["apns-unique-id"] != answers[1]["apns-unique-id"])
    }

    @Test("row 125: no apns-channel-id") func row125() {
        expectRefused(broadcast(["apns-channel-id": nil]), 400, "MissingChannelId")
    }

    @Test("row 126: a channel id that is not base64, or too long", arguments: ["%%%", "abc", ""]) func row126(
        id: String
    ) {
        expectRefused(broadcast(["apns-channel-id": id]), 400, "BadChannelId")
        expectRefused(broadcast(["apns-channel-id": String(repeating: "A", count: 68)]), 400, "BadChannelId")
    }

    @Test("row 127: an unknown channel, and one that was deleted") func row127() {
        expectRefused(broadcast(["apns-channel-id": "BBBBBBBBBBBBBBBBBBBBBB=="]), 400, "ChannelNotRegistered")
        expectAccepted(broadcast())
        wire.change { $0.removeChannel(id: Self.stored, bundleID: "com.example.app", environment: .sandbox) }
        expectRefused(broadcast(), 400, "ChannelNotRegistered")
    }

    @Test("row 128: a channel of the other environment") func row128() {
        expectRefused(broadcast(at: Wire.Place.production), 400, "ChannelNotRegistered")
    }

    @Test("row 129: a channel that does not store, and an expiration") func row129() {
        expectRefused(broadcast(["apns-channel-id": Self.unstored]), 400, "BadExpirationDate")
    }

    @Test("row 130: a channel that does not store, and expiration 0") func row130() {
        expectAccepted(broadcast(["apns-channel-id": Self.unstored, "apns-expiration": "0"]))
    }

    @Test("row 131: no apns-expiration, a switch") func row131() {
        expectAccepted(broadcast(["apns-expiration": nil]))
        wire.change { $0.rules.demandsBroadcastExpiration = true }
        expectRefused(broadcast(["apns-expiration": nil]), 400, "BadExpirationDate")
        expectAccepted(broadcast())
    }

    @Test("row 132: no push type, or an alert's") func row132() {
        expectRefused(broadcast(["apns-push-type": nil]), 400, "MissingPushType")
        expectRefused(broadcast(["apns-push-type": "alert"]), 400, "InvalidPushType")
    }

    @Test("row 133: every spelling of the push type", arguments: ["liveactivity", "LiveActivity", "Liveactivity"])
    func row133(type: String) {
        expectAccepted(broadcast(["apns-push-type": type]))
    }

    @Test("row 134: a bundle ID with a suffix in the path") func row134() {
        expectRefused(broadcast([":path": Self.path + ".push-type.liveactivity"]), 400, "TopicDisallowed")
    }

    @Test("row 135: an app of another team") func row135() {
        expectRefused(broadcast([":path": "/4/broadcasts/apps/com.example.theirs"]), 403, "TopicMismatch")
    }

    @Test("row 136: an app that may not broadcast") func row136() {
        expectRefused(broadcast([":path": "/4/broadcasts/apps/com.example.quiet"]), 400, "FeatureNotEnabled")
    }

    @Test("row 137: 5120 and 5121 bytes") func row137() {
        let around = #"{"aps":""}"#.utf8.count
        let bodies = [5120, 5121].map { #"{"aps":"\#(String(repeating: "x", count: $0 - around))"}"# }
        #expect(bodies.map(\.utf8.count) == [5120, 5121])
        expectAccepted(broadcast(body: bodies[0]))
        expectRefused(broadcast(body: bodies[1]), 413, "PayloadTooLarge")
    }

    @Test("row 138: an empty body") func row138() { expectRefused(broadcast(body: ""), 400, "PayloadEmpty") }

    @Test("row 139: priority 2") func row139() {
        expectRefused(broadcast(["apns-priority": "2"]), 400, "BadPriority")
        for priority in ["10", "5", "1"] { expectAccepted(broadcast(["apns-priority": priority])) }
    }

    @Test("row 139: no priority, a switch") func row139Absent() {
        expectAccepted(broadcast(["apns-priority": nil]))
        wire.change { $0.rules.demandsBroadcastPriority = true }
        expectRefused(broadcast(["apns-priority": nil]), 400, "BadPriority")
        expectAccepted(broadcast())
    }

    @Test("row 140: an expired provider token") func row140() throws {
        let token = try wire.token(of: wire.apns.provider, ageSeconds: 61 * 60)
        let answer = broadcast(["authorization": "bearer \(token)"])
        expectRefused(answer, 403, "ExpiredProviderToken")
        #expect(answer["apns-request-id"] == Wire.id)
        let made = broadcast(["authorization": "bearer \(token)", "apns-request-id": nil])
        #expect(isUpperCaseUUID(made["apns-request-id"] ?? ""))
    }

    @Test(
        "row 141: by the host of device pushes and by that of broadcasts",
        arguments: ["api.sandbox.push.apple.com", "api-broadcast.sandbox.push.apple.com"])
    func row141(host: String) throws {
        let place = Endpoint(host: host, port: 443)
        if host != Wire.Place.sandbox.host {
            try wire.loop.enter { [wire] in _ = try wire.apns.server.listen(on: place, as: .sandboxPush) }
        }
        expectAccepted(broadcast([":authority": host], at: place))
    }
}
