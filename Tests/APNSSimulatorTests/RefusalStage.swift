import APNSProtocol
import Crypto
import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// A simulator whose state allows every detail of a refusal. It has two teams with their apps, keys of several kinds,
/// and channels of two apps and both environments.
struct RefusalStage {
    /// The IDs of channels, named after the properties of the channels.
    enum ChannelID {
        static let stored = "c3RvcmVkY2hhbm5lbA=="
        static let unstored = "bm90IHN0b3JlZCBhdCA="
        static let inProduction = "aW4gcHJvZHVjdGlvbiE="
        static let ofOtherApp = "b2Ygb3RoZXIgYXBwIQ=="
    }

    let wire: Wire
    /// The other team's provider.
    let theirs: Provider
    /// Providers of the wire's team: a second team-scoped key, two topic-specific keys, and a key for production only.
    let second, topics, otherTopics, production: Provider

    init() throws {
        let theirs = try Provider(teamID: "TEAM000002", keyID: "KEY0000002")
        let second = try Provider(keyID: "KEY0000003")
        let topics = try Provider(keyID: "KEYTOPICS1")
        let otherTopics = try Provider(keyID: "KEYTOPICS2")
        let production = try Provider(keyID: "KEYPRODUCT")
        let keys = try [topics, otherTopics].map { provider in
            var key = try provider.registered()
            key.scope = .topics(["com.example.app"], relatedKeyID: nil)
            return key
        }
        let all =
            try keys + [theirs.registered(), second.registered(), production.registered(environments: [.production])]
        wire = try Wire { _, state in
            for key in all { state.add(key) }
            state.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: true)
            state.addApp(bundleID: "com.example.second", teamID: "TEAM000001", allowsBroadcasts: true)
            state.addApp(bundleID: "com.example.theirs", teamID: "TEAM000002", allowsBroadcasts: true)
            for (id, app, environment, policy) in [
                (ChannelID.stored, "com.example.app", .sandbox, .newest),
                (ChannelID.unstored, "com.example.app", .sandbox, .none),
                (ChannelID.inProduction, "com.example.app", .production, .newest),
                (ChannelID.ofOtherApp, "com.example.second", .sandbox, .newest),
            ] as [(String, String, APNSEnvironment, Channel.StoragePolicy)] {
                state.add(Channel(id: id, bundleID: app, environment: environment, storagePolicy: policy))
            }
        }
        (self.theirs, self.second, self.production) = (theirs, second, production)
        (self.topics, self.otherTopics) = (topics, otherTopics)
    }

    var nowSeconds: Int64 { wire.loop.now.unixSeconds }

    func rules(_ body: (inout RuleOptions) -> Void) { wire.change { body(&$0.rules) } }

    /// Sends a valid push with a changed provider token. Returns the answer.
    func push(header: String? = nil, claims: String? = nil, signedBy signer: ES256PrivateKey? = nil) throws
        -> WireAnswer
    {
        wire.push(with: try wire.token(of: wire.apns.provider, header: header, claims: claims, signedBy: signer))
    }

    /// Sends a valid push with a token of this provider. Returns the answer.
    func push(by provider: Provider, topic: String = "com.example.app", on peer: FramePeer? = nil) throws -> WireAnswer
    {
        wire.push(["authorization": "bearer \(try wire.token(of: provider))", "apns-topic": topic], on: peer)
    }

    /// Opens a connection, and binds it to `provider`, or to the wire's own provider if `provider` is nil.
    func bound(by provider: Provider? = nil) throws -> FramePeer {
        let peer = wire.connect()
        #expect(try push(by: provider ?? wire.apns.provider, on: peer).line == "200")
        return peer
    }

    /// Makes the simulator listen with TLS, and opens a connection with the client certificate. If `isRegistered` is
    /// true, first registers the certificate for the team.
    func connect(showing issued: IssuedCertificate, isRegistered: Bool = true) throws -> FramePeer {
        try wire.listenWithinTLS()
        if isRegistered {
            let certificate = try RegisteredCertificate(pem: issued.certificatePEM, teamID: "TEAM000001")
            wire.change { $0.add(certificate) }
        }
        return try wire.connect(showing: issued)
    }

    /// Sends a valid broadcast with changed fields. Returns the answer.
    func broadcast(
        _ changes: KeyValuePairs<String, String?> = [:], body: String = #"{"aps":{"event":"update"}}"#,
        on peer: FramePeer? = nil
    ) -> WireAnswer {
        let good: [(String, String?)] = [
            (":method", "POST"), (":scheme", "https"), (":path", Self.broadcastPath("com.example.app")),
            (":authority", "apns"), ("authorization", "bearer \(wire.apns.token)"), ("apns-request-id", Wire.id),
            ("apns-channel-id", ChannelID.stored), ("apns-push-type", "liveactivity"), ("apns-priority", "10"),
            ("apns-expiration", "0"),
        ]
        return wire.exchange(Wire.fields(good, changes), body: Array(body.utf8), on: peer)
    }

    static func broadcastPath(_ app: String) -> String { "/4/broadcasts/apps/\(app)" }

    /// Sends a request with changed fields for a channel, to the sandbox's port for channel management. Returns the
    /// answer.
    func read(_ changes: KeyValuePairs<String, String?> = [:]) -> WireAnswer {
        let good: [(String, String?)] = [
            (":method", "GET"), (":scheme", "https"), (":path", "/1/apps/com.example.app/channels"),
            (":authority", "apns"), ("authorization", "bearer \(wire.apns.token)"), ("apns-request-id", Wire.id),
            ("apns-channel-id", ChannelID.stored),
        ]
        return wire.at(Wire.Place.sandboxChannels).exchange(Wire.fields(good, changes), body: [])
    }
}
