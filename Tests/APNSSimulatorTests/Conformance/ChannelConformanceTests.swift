import APNSProtocol
import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// Rows of the conformance table about the life of channels.
@Suite struct ChannelConformanceTests {
    private static let collection = "/1/apps/com.example.app/channels"
    private static let list = "/1/apps/com.example.app/all-channels"

    private let wire: Wire

    init() throws {
        wire = try Wire { _, state in
            state.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: true)
        }.at(Wire.Place.sandboxChannels)
    }

    private func manage(
        _ method: String, _ path: String = collection, channel: String? = nil, body: String = "",
        at place: Endpoint? = nil
    ) -> WireAnswer {
        let wire = place.map(wire.at) ?? wire
        let fields =
            [
                (":method", method), (":scheme", "https"), (":path", path), (":authority", "apns"),
                ("authorization", "bearer \(wire.apns.token)"), ("apns-request-id", Wire.id),
            ] + (channel.map { [("apns-channel-id", $0)] } ?? [])
        return wire.exchange(fields, body: Array(body.utf8))
    }

    private func create(
        _ body: String = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#, at place: Endpoint? = nil
    ) -> WireAnswer {
        manage("POST", body: body, at: place)
    }

    private func expectRefused(
        _ answer: WireAnswer, _ status: Int, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.line == #"\#(status) {"reason":"\#(reason)"}"#, sourceLocation: sourceLocation)
        #expect(
            answer.headers.map(\.name) == [":status", "apns-request-id", "content-type"],
            sourceLocation: sourceLocation)
        #expect(answer["apns-request-id"] == Wire.id, sourceLocation: sourceLocation)
    }

    @Test("row 143: a channel of either policy is created", arguments: [0, 1]) func row143(policy: Int) throws {
        let made = create(#"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
        #expect(made.line == "201" && made.frames == ["HEADERS end_stream"])
        #expect(made.headers.map(\.name) == [":status", "apns-request-id", "apns-channel-id"])
        #expect(made["apns-request-id"] == Wire.id)
        let id = try #require(made["apns-channel-id"])
        #expect(id.wholeMatch(of: /[A-Za-z0-9+\/]+={0,2}/) != nil && id.count % 4 == 0)
        #expect(create()["apns-channel-id"] != id)
    }

    @Test("row 144: an unknown attribute") func row144() {
        expectRefused(
            create(#"{"message-storage-policy":1,"push-type":"LiveActivity","name":"x"}"#), 400, "BadRequestParams")
    }

    @Test("row 145: broken JSON", arguments: ["{", "[]", "channel"]) func row145(body: String) {
        expectRefused(create(body), 400, "BadRequestPayload")
    }

    @Test(
        "row 146: storage policy 2, or none",
        arguments: [#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, #"{"push-type":"LiveActivity"}"#])
    func row146(body: String) {
        expectRefused(create(body), 400, "MissingChannelQueueSize")
    }

    @Test("row 147: another push type") func row147() {
        expectRefused(create(#"{"message-storage-policy":1,"push-type":"Alert"}"#), 400, "InvalidPushType")
    }

    @Test("row 148: the channel after ten thousand") func row148() {
        wire.change { state in
            for number in 0..<9999 {
                state.add(
                    Channel(
                        id: "channel\(number)", bundleID: "com.example.app", environment: .sandbox,
                        storagePolicy: .none))
            }
        }
        #expect(create().status == 201)
        expectRefused(create(), 400, "CannotCreateChannelConfig")
        #expect(create(at: Wire.Place.productionChannels).status == 201)
    }

    @Test("row 149: a channel is read", arguments: [0, 1]) func row149(policy: Int) throws {
        let id = try #require(
            create(#"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)["apns-channel-id"])
        let read = manage("GET", channel: id)
        #expect(read.line == #"200 {"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
        #expect(read.headers.map(\.name) == [":status", "apns-request-id", "content-type"])
    }

    @Test("row 150: reading and deleting without an id", arguments: ["GET", "DELETE"]) func row150(method: String) {
        expectRefused(manage(method), 400, "MissingChannelId")
    }

    @Test("row 151: a channel is deleted, once") func row151() throws {
        let id = try #require(create()["apns-channel-id"])
        let deleted = manage("DELETE", channel: id)
        #expect(deleted.line == "204" && deleted.frames == ["HEADERS end_stream"])
        for method in ["GET", "DELETE"] { expectRefused(manage(method, channel: id), 400, "ChannelNotRegistered") }
    }

    @Test("row 152: the list of channels") func row152() throws {
        #expect(manage("GET", Self.list).line == #"200 {"channels":[]}"#)
        let ids = try (0..<3).map { _ in try #require(create()["apns-channel-id"]) }
        let listed = manage("GET", Self.list)
        #expect(listed.line == #"200 {"channels":["\#(ids[0])","\#(ids[1])","\#(ids[2])"]}"#)
        #expect(listed["content-type"] == "application/json")
        #expect(manage("GET", Self.list, at: Wire.Place.productionChannels).line == #"200 {"channels":[]}"#)
    }

    @Test("row 153: another method, a switch, and another path") func row153() {
        for path in [Self.collection, Self.list] { expectRefused(manage("PUT", path), 405, "MethodNotAllowed") }
        expectRefused(manage("GET", "/1/apps/x/foo"), 404, "BadPath")
        wire.change { $0.rules.wrongMethodReason = .badPath }
        expectRefused(manage("PUT"), 404, "BadPath")
    }

    @Test("row 153: HEAD is answered without a body") func row153Head() {
        #expect(manage("HEAD", Self.list).frames == ["HEADERS end_stream"])
    }

    @Test("row 154: each host has its own paths") func row154() {
        for place in [Wire.Place.sandbox, Wire.Place.production] {
            #expect(manage("POST", Self.list, at: place).line == #"404 {"reason":"BadPath"}"#)
            #expect(manage("GET", Self.list, at: place).line == #"405 {"reason":"MethodNotAllowed"}"#)
        }
        for path in ["/3/device/\(Wire.deviceToken)", "/4/broadcasts/apps/com.example.app"] {
            expectRefused(manage("POST", path, body: Wire.alert), 404, "BadPath")
        }
    }

    @Test("row 156: broadcasting is switched off for an app") func row156() throws {
        let id = try #require(create()["apns-channel-id"])
        wire.change { $0.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: false) }
        expectRefused(manage("GET", channel: id), 400, "FeatureNotEnabled")
        expectRefused(create(), 400, "FeatureNotEnabled")
        // After the app may broadcast again, its channels stay deleted.
        wire.change { $0.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: true) }
        expectRefused(manage("GET", channel: id), 400, "ChannelNotRegistered")
    }
}
