import APNSProtocol
import Crypto
import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// A refused request with the expected detail in the log. The detail and the reason are literals, as in the log and on
/// the wire.
struct RefusedRequest: Sendable, CustomTestStringConvertible {
    /// The expected detail; nil if the log has none.
    let detail: String?
    let status: Int
    let reason: String
    let testDescription: String
    let send: @Sendable (RefusalStage) throws -> WireAnswer

    /// Creates a request that is to be refused.
    ///
    /// - Parameter answer: The expected status and reason.
    init(
        _ detail: String?, _ answer: String, _ what: String,
        _ send: @escaping @Sendable (RefusalStage) throws -> WireAnswer
    ) {
        let words = answer.split(separator: " ")
        (self.detail, status, reason) = (detail, Int(words[0])!, String(words[1]))
        testDescription = "\(detail ?? "nothing"): \(what)"
        self.send = send
    }
}

extension RefusedRequest {
    /// At least one request for each detail.
    static let detailed = ofTokens + ofConnections + ofCertificates + ofTopics + ofChannels + ofTimes + ofPushes

    private static let invalidToken = "403 InvalidProviderToken"

    private static let ofTokens = [
        RefusedRequest("token_form", invalidToken, "two parts") { $0.wire.push(with: "x.y") },
        RefusedRequest("token_form", invalidToken, "parts that are not JSON") { $0.wire.push(with: "a.b.c") },
        RefusedRequest("token_form", invalidToken, "a signature that is not base64url") { stage in
            stage.wire.push(with: stage.wire.apns.token + "%")
        },
        RefusedRequest("token_algorithm", invalidToken, "none") { stage in
            try stage.push(header: #"{"alg":"none","kid":"KEY0000001"}"#)
        },
        RefusedRequest("token_key_id", invalidToken, "no kid") { try $0.push(header: #"{"alg":"ES256"}"#) },
        RefusedRequest("token_team", invalidToken, "no iss") { try $0.push(claims: #"{"iat":\#($0.nowSeconds)}"#) },
        RefusedRequest("token_issued_at", invalidToken, "no iat") { try $0.push(claims: #"{"iss":"TEAM000001"}"#) },
        RefusedRequest("token_issued_at", invalidToken, "milliseconds") { stage in
            try stage.push(claims: #"{"iss":"TEAM000001","iat":\#(stage.nowSeconds)000}"#)
        },
        RefusedRequest("token_future", invalidToken, "two hours ahead") { stage in
            try stage.push(claims: #"{"iss":"TEAM000001","iat":\#(stage.nowSeconds + 7200)}"#)
        },
        RefusedRequest("token_signature", invalidToken, "by another key") { try $0.push(signedBy: .generate()) },
        RefusedRequest("key_unknown", invalidToken, "an unknown kid") { stage in
            try stage.push(header: #"{"alg":"ES256","kid":"KEY0000009"}"#)
        },
        RefusedRequest("key_revoked", invalidToken, "on an open connection") { stage in
            let peer = try stage.bound()
            stage.wire.change { $0.revokeKey(id: "KEY0000001") }
            return stage.wire.push(on: peer)
        },
        RefusedRequest("key_of_other_team", invalidToken, "own key, other team's iss") { stage in
            try stage.push(claims: #"{"iss":"TEAM000002","iat":\#(stage.nowSeconds)}"#)
        },
        RefusedRequest("key_environment", "403 BadEnvironmentKeyIdInToken", "a production key on the sandbox") {
            stage in
            try stage.push(by: stage.production)
        },
        RefusedRequest("key_environment", invalidToken, "channel management without the reason") { stage in
            stage.rules { $0.channelsReportKeyFaults = false }
            return stage.read(["authorization": "bearer \(try stage.wire.token(of: stage.production))"])
        },
    ]

    private static let ofConnections = [
        RefusedRequest("connection_of_other_team", invalidToken, "own connection, other team's token") { stage in
            try stage.push(by: stage.theirs, topic: "com.example.theirs", on: try stage.bound())
        },
        RefusedRequest("connection_of_other_key", "403 UnrelatedKeyIdInToken", "a team key, then a topic key") {
            stage in
            try stage.push(by: stage.topics, on: try stage.bound())
        },
        RefusedRequest("connection_of_other_key", "403 UnrelatedKeyIdInToken", "a topic key, then a team key") {
            stage in
            stage.wire.push(on: try stage.bound(by: stage.topics))
        },
        RefusedRequest("connection_of_other_key", "403 UnrelatedKeyIdInToken", "two unrelated topic keys") { stage in
            try stage.push(by: stage.otherTopics, on: try stage.bound(by: stage.topics))
        },
        RefusedRequest("connection_of_other_key", "403 UnrelatedKeyIdInToken", "a second team key, a switch") { stage in
            stage.rules { $0.allowsTeamKeyRotation = false }
            return try stage.push(by: stage.second, on: try stage.bound())
        },
    ]

    private static let ofCertificates = [
        RefusedRequest("certificate_unknown", "403 BadCertificate", "never registered") { stage in
            let peer = try stage.connect(showing: AppleAuthority.single, isRegistered: false)
            return stage.wire.push(["authorization": nil], on: peer)
        },
        RefusedRequest("certificate_unknown", "403 BadCertificate", "revoked on an open connection") { stage in
            let peer = try stage.connect(showing: AppleAuthority.single)
            #expect(stage.wire.push(["authorization": nil], on: peer).line == "200")
            let fingerprint = try SHA256Value(digest: AppleAuthority.read(AppleAuthority.single).sha256)
            stage.wire.change { $0.revokeCertificate(fingerprint) }
            return stage.wire.push(["authorization": nil], on: peer)
        },
        outOfDate("over", shiftDays: 40), outOfDate("not yet begun", shiftDays: -40),
        RefusedRequest("location_by_certificate", "403 Forbidden", "a push") { stage in
            let topic = "com.example.app.location-query"
            let peer = try stage.connect(showing: AppleAuthority.certificate(topics: [(topic, "location")]))
            return stage.wire.push(
                ["authorization": nil, "apns-topic": topic, "apns-push-type": "location"], on: peer)
        },
    ]

    private static func outOfDate(_ what: String, shiftDays: Int64) -> RefusedRequest {
        RefusedRequest("certificate_out_of_date", "403 BadCertificate", what) { stage in
            let peer = try stage.connect(showing: AppleAuthority.single)
            #expect(stage.wire.push(["authorization": nil], on: peer).line == "200")
            stage.wire.loop.enter { stage.wire.apns.server.clockOffset += .seconds(shiftDays * 86_400) }
            return stage.wire.push(["authorization": nil], on: peer)
        }
    }

    private static let disallowed = "400 TopicDisallowed"
    private static let mismatch = "403 TopicMismatch"

    private static let ofTopics = [
        RefusedRequest("topic_suffix", disallowed, "the suffix of voip on an alert") { stage in
            stage.wire.push(["apns-topic": "com.example.app.voip"])
        },
        RefusedRequest("topic_suffix", disallowed, "no suffix on a voip push") {
            $0.wire.push(["apns-push-type": "voip"])
        },
        RefusedRequest("topic_suffix", disallowed, "any suffix on a broadcast") { stage in
            stage.broadcast([":path": RefusalStage.broadcastPath("com.example.app.push-type.liveactivity")])
        },
        RefusedRequest("topic_of_key", disallowed, "a push") { stage in
            try stage.push(by: stage.topics, topic: "com.example.second")
        },
        RefusedRequest("topic_of_key", mismatch, "a broadcast") { stage in
            stage.broadcast([
                ":path": RefusalStage.broadcastPath("com.example.second"),
                "authorization": "bearer \(try stage.wire.token(of: stage.topics))",
            ])
        },
        RefusedRequest("topic_of_certificate", disallowed, "a push") { stage in
            let peer = try stage.connect(showing: AppleAuthority.single)
            return stage.wire.push(["authorization": nil, "apns-topic": "com.example.second"], on: peer)
        },
        RefusedRequest("topic_of_certificate", mismatch, "a broadcast") { stage in
            let peer = try stage.connect(showing: AppleAuthority.single)
            return stage.broadcast(
                [":path": RefusalStage.broadcastPath("com.example.second"), "authorization": nil], on: peer)
        },
        RefusedRequest("topic_unknown", disallowed, "a push") { stage in
            stage.wire.push(["apns-topic": "com.example.unheard-of"])
        },
        RefusedRequest("topic_unknown", mismatch, "a broadcast") { stage in
            stage.broadcast([":path": RefusalStage.broadcastPath("com.example.unheard-of")])
        },
        RefusedRequest("topic_of_other_team", disallowed, "a push") {
            $0.wire.push(["apns-topic": "com.example.theirs"])
        },
        RefusedRequest("topic_of_other_team", mismatch, "a broadcast") { stage in
            stage.broadcast([":path": RefusalStage.broadcastPath("com.example.theirs")])
        },
        RefusedRequest("topic_added_later", disallowed, "a push") { stage in
            let peer = try stage.bound()
            stage.wire.change { $0.addApp(bundleID: "com.example.new", teamID: "TEAM000001") }
            return stage.wire.push(["apns-topic": "com.example.new"], on: peer)
        },
    ]

    private static let ofChannels = [
        RefusedRequest("channel_encoding", "400 BadChannelId", "a broadcast") {
            $0.broadcast(["apns-channel-id": "%%%%"])
        },
        RefusedRequest("channel_encoding", "400 BadChannelId", "read") { $0.read(["apns-channel-id": "abc"]) },
        RefusedRequest("channel_length", "400 BadChannelId", "a broadcast") { stage in
            stage.broadcast(["apns-channel-id": String(repeating: "A", count: 68)])
        },
        RefusedRequest("channel_length", "400 BadChannelId", "read") { stage in
            stage.read(["apns-channel-id": String(repeating: "A", count: 68)])
        },
        RefusedRequest("channel_unknown", "400 ChannelNotRegistered", "a broadcast") { stage in
            stage.broadcast(["apns-channel-id": "BBBBBBBBBBBBBBBBBBBBBB=="])
        },
        RefusedRequest("channel_unknown", "400 ChannelNotRegistered", "read") { stage in
            stage.read(["apns-channel-id": "BBBBBBBBBBBBBBBBBBBBBB=="])
        },
        // By default, the simulator does not search the channels of other apps.
        RefusedRequest("channel_unknown", "400 ChannelNotRegistered", "another app's channel, by default") {
            stage in
            stage.broadcast(["apns-channel-id": RefusalStage.ChannelID.ofOtherApp])
        },
        RefusedRequest("channel_of_other_app", "400 BadChannelId", "a broadcast, a switch") { stage in
            stage.rules { $0.foreignChannelReason = .badChannelID }
            return stage.broadcast(["apns-channel-id": RefusalStage.ChannelID.ofOtherApp])
        },
        RefusedRequest("channel_of_other_app", "400 BadChannelId", "read, a switch") { stage in
            stage.rules { $0.foreignChannelReason = .badChannelID }
            return stage.read(["apns-channel-id": RefusalStage.ChannelID.ofOtherApp])
        },
        RefusedRequest("channel_of_other_environment", "400 ChannelNotRegistered", "a broadcast") { stage in
            stage.broadcast(["apns-channel-id": RefusalStage.ChannelID.inProduction])
        },
        RefusedRequest("channel_of_other_environment", "400 BadChannelId", "read, a switch") { stage in
            stage.rules { $0.foreignChannelReason = .badChannelID }
            return stage.read(["apns-channel-id": RefusalStage.ChannelID.inProduction])
        },
    ]

    private static let badExpiration = "400 BadExpirationDate"

    private static let ofTimes = [
        RefusedRequest("expiration_form", badExpiration, "a push") { $0.wire.push(["apns-expiration": "soon"]) },
        RefusedRequest("expiration_form", badExpiration, "a broadcast") { $0.broadcast(["apns-expiration": "-1"]) },
        RefusedRequest("expiration_missing", badExpiration, "a broadcast, a switch") { stage in
            stage.rules { $0.demandsBroadcastExpiration = true }
            return stage.broadcast(["apns-expiration": nil])
        },
        RefusedRequest("expiration_past", badExpiration, "a push, a switch") { stage in
            stage.rules { $0.pastExpirationReason = .badExpirationDate }
            return stage.wire.push(["apns-expiration": "\(stage.nowSeconds - 1)"])
        },
        RefusedRequest("expiration_past", badExpiration, "a broadcast, a switch") { stage in
            stage.rules { $0.pastExpirationReason = .badExpirationDate }
            return stage.broadcast(["apns-expiration": "1"])
        },
        RefusedRequest("expiration_milliseconds", badExpiration, "a push, a switch") { stage in
            stage.rules { $0.millisecondsExpirationReason = .badExpirationDate }
            return stage.wire.push(["apns-expiration": "\(stage.nowSeconds)000"])
        },
        RefusedRequest("expiration_of_channel", badExpiration, "a channel that does not store") { stage in
            stage.broadcast([
                "apns-channel-id": RefusalStage.ChannelID.unstored, "apns-expiration": "\(stage.nowSeconds + 3600)",
            ])
        },
    ]

    private static let ofPushes = [
        RefusedRequest("priority_of_type", "400 BadPriority", "10 of background") { stage in
            stage.wire.push(["apns-push-type": "background", "apns-priority": "10"])
        },
        RefusedRequest("priority_of_type", "400 BadPriority", "1 of background, a switch") { stage in
            stage.rules { $0.powerFirstReason = .badPriority }
            return stage.wire.push(["apns-push-type": "background", "apns-priority": "1"])
        },
        RefusedRequest("payload_compressed", "400 PayloadEmpty", "a push") { stage in
            stage.wire.push(["content-encoding": "gzip"])
        },
        RefusedRequest("payload_compressed", "400 BadRequestPayload", "a broadcast") { stage in
            stage.broadcast(["content-encoding": "gzip"])
        },
        RefusedRequest("payload_form", "400 PayloadEmpty", "a push") { $0.wire.push(body: "[]") },
        RefusedRequest("payload_form", "400 BadRequestPayload", "a broadcast") { $0.broadcast(body: "{") },
        RefusedRequest("payload_visible", "400 InvalidPushType", "a background push, a switch") { stage in
            stage.rules { $0.backgroundContentReason = .invalidPushType }
            return stage.wire.push(["apns-push-type": "background", "apns-priority": "5"])
        },
        RefusedRequest("fault", "400 PayloadEmpty", "a valid push") { stage in
            try stage.wire.loop.enter {
                try stage.wire.apns.server.faults.put(Fault(id: "f", action: .answer(.refused(.payloadEmpty))))
            }
            return stage.wire.push()
        },
    ]

    /// Requests whose refusals have no detail.
    static let plain = [
        RefusedRequest(nil, "400 BadDeviceToken", "not hexadecimal digits") { $0.wire.push(to: "xyz") },
        RefusedRequest(nil, "400 BadPriority", "2") { $0.wire.push(["apns-priority": "2"]) },
        RefusedRequest(nil, "400 PayloadEmpty", "no body") { $0.wire.push(body: "") },
        RefusedRequest(nil, "403 MissingProviderToken", "no authorization") { $0.wire.push(["authorization": nil]) },
        RefusedRequest(nil, "403 ExpiredProviderToken", "two hours old") { stage in
            try stage.push(claims: #"{"iss":"TEAM000001","iat":\#(stage.nowSeconds - 7200)}"#)
        },
        RefusedRequest(nil, "400 MissingChannelId", "read") { $0.read(["apns-channel-id": nil]) },
    ]
}
