import APNSProtocol
import Crypto
import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// Tests of channels and broadcasts at the HTTP/2 level.
@Suite struct ChannelServerTests {
    private let wire: Wire
    private let channels: Wire

    init() throws {
        wire = try Wire { _, state in
            state.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: true)
        }
        channels = wire.at(Wire.Place.sandboxChannels)
    }

    private func fields(_ method: String, _ path: String, _ more: [(String, String)]) -> [(String, String)] {
        [
            (":method", method), (":scheme", "https"), (":path", path), (":authority", "apns"),
            ("authorization", "bearer \(wire.apns.token)"),
        ] + more
    }

    private func manage(_ method: String, _ more: [(String, String)] = [], body: String = "") -> WireAnswer {
        channels.exchange(fields(method, "/1/apps/com.example.app/channels", more), body: Array(body.utf8))
    }

    private func broadcast(_ more: [(String, String)]) -> WireAnswer {
        wire.exchange(
            fields("POST", "/4/broadcasts/apps/com.example.app", [("apns-push-type", "liveactivity")] + more),
            body: Array("{}".utf8))
    }

    private func create() throws -> String {
        let made = manage("POST", body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        return try #require(made["apns-channel-id"])
    }

    @Test func requestIDsAreReturnedOrCreated() throws {
        let made = manage(
            "POST", [("apns-request-id", Wire.id)], body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        #expect(made.frames == ["HEADERS end_stream"])
        #expect(made.headers.map(\.name) == [":status", "apns-request-id", "apns-channel-id"])
        #expect(made.status == 201 && made["apns-request-id"] == Wire.id)
        let read = manage("GET", [("apns-channel-id", try #require(made["apns-channel-id"]))])
        let id = try #require(read["apns-request-id"])
        #expect(UUIDValue(id) != nil && id == id.uppercased())
        #expect(read["content-type"] == "application/json")
        let refused = manage("DELETE", [("apns-request-id", Wire.id)])
        #expect(refused.line == #"400 {"reason":"MissingChannelId"}"#)
        #expect(refused["apns-request-id"] == Wire.id)
    }

    @Test func acceptedBroadcastsHaveAUniqueID() throws {
        let channel = try create()
        let accepted = broadcast([("apns-channel-id", channel), ("apns-request-id", Wire.id)])
        #expect(accepted.line == "200")
        #expect(accepted.headers.map(\.name) == [":status", "apns-request-id", "apns-unique-id"])
        let refused = broadcast([("apns-channel-id", "%%%"), ("apns-id", Wire.id)])
        #expect(refused.line == #"400 {"reason":"BadChannelId"}"#)
        #expect(refused.headers.map(\.name) == [":status", "apns-request-id", "content-type"])
        #expect(refused["apns-request-id"] == Wire.id)
    }

    @Test func requestsEndWithTheirHeadersOrWithEmptyData() throws {
        let channel = try create()
        let peer = channels.connect()
        for method in ["GET", "DELETE"] {
            let fields = fields(method, "/1/apps/com.example.app/channels", [("apns-channel-id", channel)])
            let stream = peer.newStream()
            wire.loop.enter {
                peer.send(.headers(stream, HPACKWriter.block(fields)), .data(stream, []))
            }
            wire.run { peer[stream].isComplete }
            #expect(peer[stream].status == (method == "GET" ? 200 : 204))
        }
    }

    @Test func theGateOpensOnTheManagementHost() throws {
        let peer = channels.connect()
        #expect(peer.transcript.first?.contains("max_concurrent_streams=1") == true, "\(peer.transcript)")
        let list = fields("GET", "/1/apps/com.example.app/all-channels", [])
        #expect(channels.exchange(list, body: [], on: peer).line == #"200 {"channels":[]}"#)
        wire.run { peer.transcript.contains { $0.contains("max_concurrent_streams=1000") } }
        #expect(peer.transcript.contains { $0.contains("max_concurrent_streams=1000") }, "\(peer.transcript)")
    }

    @Test func eachHostServesItsOwnPaths() {
        let list = fields("GET", "/1/apps/com.example.app/all-channels", [])
        #expect(wire.exchange(list, body: []).line == #"405 {"reason":"MethodNotAllowed"}"#)
        #expect(channels.push().line == #"404 {"reason":"BadPath"}"#)
    }
}
