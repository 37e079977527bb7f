import APNSProtocol
import Crypto
import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

@Suite struct CertificateRulesTests {
    private var apns: Conversation

    init() throws { apns = try Conversation(Provider()) }

    private mutating func show(_ issued: IssuedCertificate, isRegistered: Bool = true) throws {
        if isRegistered {
            apns.state.add(try RegisteredCertificate(pem: issued.certificatePEM, teamID: "TEAM000001"))
        }
        apns.connection = ConnectionMemory(service: apns.connection.service)
        apns.connection.present(try AppleAuthority.read(issued))
        apns.now.unixNanoseconds =
            try CertificateContents(pem: Array(issued.certificatePEM.utf8)).notBeforeSeconds * 1_000_000_000
    }

    @Test mutating func theOnlyTopicIsTheDefault() throws {
        try show(AppleAuthority.single)
        #expect(apns.push(["authorization": nil, "apns-topic": nil]) == "200")
        #expect(apns.push(["authorization": nil]) == "200")
        #expect(
            apns.push(["authorization": nil, "apns-topic": "com.other.app"]) == #"400 {"reason":"TopicDisallowed"}"#)
        #expect(
            apns.push(["apns-topic": "com.example.app.voip", "apns-push-type": "voip"])
                == #"400 {"reason":"TopicDisallowed"}"#)
    }

    @Test mutating func severalTopicsRequireApnsTopic() throws {
        try show(AppleAuthority.several)
        #expect(apns.push(["authorization": nil, "apns-topic": nil]) == #"400 {"reason":"MissingTopic"}"#)
        #expect(apns.push(["authorization": nil]) == "200")
        #expect(
            apns.push(["authorization": nil, "apns-topic": "com.example.app.voip", "apns-push-type": "voip"]) == "200")
        #expect(
            apns.push(["apns-topic": "com.example.app.push-type.widgets", "apns-push-type": "widgets"])
                == #"400 {"reason":"TopicDisallowed"}"#)
    }

    @Test mutating func suffixedTopicsWorkWithoutAPushType() throws {
        try show(AppleAuthority.several)
        apns.state.add(Device(token: "aa01", bundleID: "com.example.app"))
        let voip: [String: String?] = [
            ":path": "/3/device/aa01", "authorization": nil, "apns-topic": "com.example.app.voip",
        ]
        #expect(apns.push(voip.merging(["apns-push-type": nil]) { $1 }) == "200")
        #expect(apns.push(voip.merging(["apns-push-type": "voip"]) { $1 }) == "200")
        #expect(apns.push(voip.merging(["apns-push-type": "alert"]) { $1 }) == #"400 {"reason":"TopicDisallowed"}"#)
    }

    @Test mutating func providerTokensAreIgnored() throws {
        try show(AppleAuthority.single)
        #expect(apns.push(["authorization": "garbage"]) == "200")
        #expect(apns.push(["authorization": "bearer a.b.c"]) == "200")
    }

    @Test mutating func locationRequiresAProviderToken() throws {
        let issued = AppleAuthority.certificate(topics: [("com.example.app.location-query", "location")])
        try show(issued)
        let push = ["apns-topic": "com.example.app.location-query", "apns-push-type": "location"]
        #expect(apns.push(push) == #"403 {"reason":"Forbidden"}"#)
        apns.state.rules.locationByCertificateReason = .topicDisallowed
        #expect(apns.push(push) == #"400 {"reason":"TopicDisallowed"}"#)
    }

    @Test mutating func unregisteredCertificatesAreBad() throws {
        try show(AppleAuthority.single, isRegistered: false)
        #expect(apns.push() == #"403 {"reason":"BadCertificate"}"#)
        try show(AppleAuthority.single)
        #expect(apns.push() == "200")
        apns.now.unixNanoseconds += 40 * 86_400 * 1_000_000_000
        #expect(apns.push() == #"403 {"reason":"BadCertificate"}"#)
    }

    @Test mutating func revokedCertificatesAreBadOnOpenConnections() throws {
        try show(AppleAuthority.single)
        #expect(apns.push() == "200")
        apns.state.revokeCertificate(try SHA256Value(digest: AppleAuthority.read(AppleAuthority.single).sha256))
        #expect(apns.push() == #"403 {"reason":"BadCertificate"}"#)
    }

    @Test mutating func certificatesOfAnotherEnvironmentAreBad() throws {
        try show(AppleAuthority.certificate(environments: [.production]))
        #expect(apns.push() == #"403 {"reason":"BadCertificateEnvironment"}"#)
    }

    @Test mutating func certificatesCoverTheChannelsOfTheirTopics() throws {
        apns.state.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: true)
        apns.connection = ConnectionMemory(service: Service(.sandbox, .channelManagement))
        try show(AppleAuthority.single)
        func list(_ app: String) -> [(String, String)] {
            [(":method", "GET"), (":path", "/1/apps/\(app)/all-channels")]
        }
        #expect(apns.text(of: apns.answer(to: list("com.example.app"))) == #"200 {"channels":[]}"#)
        #expect(apns.text(of: apns.answer(to: list("com.other.app"))) == #"403 {"reason":"TopicMismatch"}"#)
    }
}

/// Tests of certificates that clients present in TLS.
@Suite struct CertificateServerTests {
    private let wire: Wire

    init() throws {
        wire = try Wire { _, state in
            for issued in [AppleAuthority.single, AppleAuthority.several] {
                state.add(try! RegisteredCertificate(pem: issued.certificatePEM, teamID: "TEAM000001"))
            }
        }
        try wire.listenWithinTLS()
    }

    private func push(_ peer: FramePeer) -> String {
        wire.push(["authorization": nil, "apns-topic": nil], on: peer).line
    }

    @Test func certificatesOpenTheGateFromTheStart() throws {
        let peer = try wire.connect(showing: AppleAuthority.single)
        #expect(peer.transcript.first?.contains("max_concurrent_streams=1000") == true, "\(peer.transcript)")
        #expect(push(peer) == "200")
    }

    @Test func certificatesAreOptional() throws {
        let peer = try wire.connect(showing: nil)
        #expect(peer.transcript.first?.contains("max_concurrent_streams=1 ") == true, "\(peer.transcript)")
        #expect(wire.push(["authorization": nil], on: peer).line == #"403 {"reason":"MissingProviderToken"}"#)
    }

    @Test func unregisteredCertificatesAreRefusedWithTheReason() throws {
        let peer = try wire.connect(showing: AppleAuthority.certificate())
        #expect(peer.transcript.first?.contains("max_concurrent_streams=1 ") == true, "\(peer.transcript)")
        #expect(push(peer) == #"403 {"reason":"BadCertificate"}"#)
    }

    @Test("row 37: no topic, with a certificate of one topic") func row37() throws {
        expectAccepted(
            wire.push(["authorization": nil, "apns-topic": nil], on: try wire.connect(showing: AppleAuthority.single)))
    }

    @Test("row 38: no topic, with a certificate of several") func row38() throws {
        let peer = try wire.connect(showing: AppleAuthority.several)
        expectRefused(
            wire.push(["authorization": nil, "apns-topic": nil], on: peer), 400, #"{"reason":"MissingTopic"}"#)
        expectAccepted(wire.push(["authorization": nil], on: peer))
    }

    @Test("row 43: location with a certificate, a switch") func row43() throws {
        let topic = "com.example.app.location-query"
        let issued = AppleAuthority.certificate(topics: [(topic, "location")])
        wire.change { $0.add(try! RegisteredCertificate(pem: issued.certificatePEM, teamID: "TEAM000001")) }
        let peer = try wire.connect(showing: issued)
        func push() -> WireAnswer {
            wire.push(["authorization": nil, "apns-topic": topic, "apns-push-type": "location"], on: peer)
        }
        expectRefused(push(), 403, #"{"reason":"Forbidden"}"#)
        wire.change { $0.rules.locationByCertificateReason = .topicDisallowed }
        expectRefused(push(), 400, #"{"reason":"TopicDisallowed"}"#)
    }

    @Test("row 77: a certificate, and an invalid authorization header", arguments: ["garbage", "bearer a.b.c", ""])
    func row77(authorization: String) throws {
        expectAccepted(
            wire.push(["authorization": authorization], on: try wire.connect(showing: AppleAuthority.single)))
    }

    @Test func revokedCertificatesAreRefusedByTLS() throws {
        try wire.loop.enter { [wire] in
            wire.apns.server.state.revokeCertificate(
                try SHA256Value(digest: AppleAuthority.read(AppleAuthority.single).sha256))
        }
        let peer = try wire.connect(showing: AppleAuthority.single)
        wire.run { peer.isClosed }
        #expect(peer.isClosed && peer.frames.isEmpty)
        #expect(peer.error?.message.contains("revoked") == true, "\(peer.error?.message ?? "none")")
    }

    @Test func wrongEnvironmentClosesTheConnection() throws {
        let issued = AppleAuthority.certificate(environments: [.production])
        try wire.loop.enter { [wire] in
            wire.apns.server.state.add(try RegisteredCertificate(pem: issued.certificatePEM, teamID: "TEAM000001"))
        }
        let peer = try wire.connect(showing: issued)
        wire.run { peer.isClosed || peer.isFinished }
        #expect(
            peer.transcript.contains(#"GOAWAY 0 NO_ERROR {"reason":"BadCertificateEnvironment"}"#),
            "\(peer.transcript)")
        #expect(peer.isFinished || peer.isClosed)
    }
}
