import APNSProtocol
import Crypto
import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// What the log says of refusals whose reason can mean several things.
@Suite struct RefusalDetailTests {
    private let wire: Wire

    init() throws { wire = try Wire() }

    private func detail(_ changes: KeyValuePairs<String, String?>, body: String = Wire.alert) -> String? {
        _ = wire.push(changes, body: body)
        return wire.apns.requests.last?.detail?.rawValue
    }

    private func token(
        header: String = #"{"alg":"ES256","kid":"KEY0000001"}"#, claims: String? = nil, signedBy: ES256PrivateKey? = nil
    ) throws -> String {
        let provider = wire.apns.provider
        let claims = claims ?? #"{"iss":"\#(provider.teamID)","iat":\#(wire.apns.server.now.unixSeconds)}"#
        guard let signedBy else { return "bearer \(try provider.token(header: header, claims: claims))" }
        return "bearer \(try provider.token(header: header, claims: claims, signedBy: signedBy))"
    }

    @Test func ofProviderTokens() throws {
        let now = wire.apns.server.now.unixSeconds
        let team = wire.apns.provider.teamID
        #expect(detail(["authorization": "bearer x.y"]) == "token_form")
        #expect(
            detail(["authorization": try token(header: #"{"alg":"none","kid":"KEY0000001"}"#)]) == "token_algorithm")
        #expect(detail(["authorization": try token(header: #"{"alg":"ES256"}"#)]) == "token_key_id")
        #expect(detail(["authorization": try token(claims: #"{"iat":\#(now)}"#)]) == "token_team")
        #expect(detail(["authorization": try token(claims: #"{"iss":"\#(team)"}"#)]) == "token_issued_at")
        #expect(
            detail(["authorization": try token(claims: #"{"iss":"\#(team)","iat":\#(now + 7200)}"#)]) == "token_future")
        #expect(detail(["authorization": try token(signedBy: .generate())]) == "token_signature")
        let unknown = #"{"alg":"ES256","kid":"KEY0000009"}"#
        #expect(detail(["authorization": try token(header: unknown)]) == "key_unknown")
        #expect(
            detail(["authorization": try token(claims: #"{"iss":"TEAM000009","iat":\#(now)}"#)]) == "key_of_other_team")
        #expect(detail([:]) == nil, "it is accepted")
        wire.loop.enter { wire.apns.server.state.keys["KEY0000001"]?.isRevoked = true }
        #expect(detail(["apns-id": "11111111-2222-4333-8444-555555555555"]) == "key_revoked")
    }

    @Test func thePageHasASentenceForEach() throws {
        let page = String(
            decoding: try Files.bytes(of: Products.file("Sources/APNSSimulator/Page/explain.js")), as: UTF8.self)
        #expect(RefusalDetail.allCases.map(\.rawValue).filter { !page.contains("\n  \($0): (") } == [])
    }

    @Test func ofWhatAPushSays() {
        #expect(detail(["apns-expiration": "soon"]) == "expiration_form")
        #expect(detail(["apns-push-type": "background", "apns-priority": "10"]) == "priority_of_type")
        #expect(detail(["content-encoding": "gzip"]) == "payload_compressed")
        #expect(detail([:], body: "[]") == "payload_form")
        #expect(detail(["apns-topic": "com.example.app.voip"]) == "topic_suffix")
        #expect(detail(["apns-topic": "com.example.unheard-of"]) == "topic_unknown")
        #expect(detail([":path": "/3/device/xyz"]) == nil, "the reason says it all")
    }

    @Test func aFaultThatAnswersIsToldFromOneThatDelays() throws {
        let provider = wire.apns
        try provider.loop.enter {
            try provider.server.faults.put(Fault(id: "late", action: .latency(.constant(5))))
        }
        #expect(detail([:], body: "[]") == "payload_form")
        try provider.loop.enter {
            try provider.server.faults.put(Fault(id: "late", action: .answer(.refused(.payloadEmpty))))
        }
        #expect(detail([:]) == "fault")
    }
}
