import APNSProtocol
import Crypto
import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// Rows of the conformance table about provider tokens and the binding of connections.
@Suite struct AuthenticationConformanceTests {
    private static let invalid = #"{"reason":"InvalidProviderToken"}"#
    private static let missing = #"{"reason":"MissingProviderToken"}"#
    private static let expired = #"{"reason":"ExpiredProviderToken"}"#
    private static let tooManyUpdates = #"{"reason":"TooManyProviderTokenUpdates"}"#
    private static let unrelated = #"{"reason":"UnrelatedKeyIdInToken"}"#
    private static let topicDisallowed = #"{"reason":"TopicDisallowed"}"#

    @Test("row 67: no authorization and no certificate") func row67() throws {
        expectRefused(try Wire().push(["authorization": nil]), 403, Self.missing)
    }

    @Test("row 68: bearer without a token", arguments: ["bearer", ""]) func row68(value: String) throws {
        expectRefused(try Wire().push(["authorization": value]), 403, Self.missing)
    }

    @Test("row 69: bad signature, unknown key, revoked key") func row69() throws {
        let wire = try Wire()
        let provider = wire.apns.provider
        let peer = wire.connect()
        let forged = try wire.token(of: provider, signedBy: ES256PrivateKey.generate())
        let unknown = try wire.token(of: provider, header: #"{"alg":"ES256","kid":"KEY0000009"}"#)
        for token in [forged, unknown, "nonsense"] {
            expectRefused(wire.push(with: token, on: peer), 403, Self.invalid)
        }
        expectAccepted(wire.push(on: peer))
        wire.change { $0.revokeKey(id: "KEY0000001") }
        expectRefused(wire.push(), 403, Self.invalid)
    }

    @Test("row 70: another algorithm", arguments: ["HS256", "none", "RS256"]) func row70(algorithm: String) throws {
        let wire = try Wire()
        let token = try wire.token(of: wire.apns.provider, header: #"{"alg":"\#(algorithm)","kid":"KEY0000001"}"#)
        expectRefused(wire.push(with: token), 403, Self.invalid)
        let unsigned = token.split(separator: ".").dropLast().joined(separator: ".") + "."
        expectRefused(wire.push(with: unsigned), 403, Self.invalid)
    }

    @Test("row 71: a token 61 minutes old") func row71() throws {
        let wire = try Wire()
        let peer = wire.connect()
        let token = try wire.token(of: wire.apns.provider, ageSeconds: 61 * 60)
        expectRefused(wire.push(with: token, on: peer), 403, Self.expired)
        // An accepted token also expires during its connection.
        expectAccepted(wire.push(on: peer))
        wire.wait(.seconds(61 * 60))
        expectRefused(wire.push(on: peer), 403, Self.expired)
    }

    @Test("row 72: a token 59 minutes old") func row72() throws {
        let wire = try Wire()
        expectAccepted(wire.push(with: try wire.token(of: wire.apns.provider, ageSeconds: 59 * 60)))
    }

    @Test("row 73: a token from the future, a switch") func row73() throws {
        let wire = try Wire()
        let token = try wire.token(of: wire.apns.provider, ageSeconds: -7200)
        expectRefused(wire.push(with: token), 403, Self.invalid)
        let lax = try Wire { _, state in state.rules.futureTokenSecondsMax = 86_400 }
        expectAccepted(lax.push(with: try lax.token(of: lax.apns.provider, ageSeconds: -7200)))
    }

    @Test("row 74: iat is in milliseconds, a text or a number", arguments: [#""MS""#, "MS"])
    func row74(issuedAt: String) throws {
        let wire = try Wire { _, state in state.rules.futureTokenReason = .expiredProviderToken }
        expectRefused(try Self.push(wire, issuedAt: issuedAt), 403, Self.invalid)
    }

    @Test("row 74: iat has a fraction, or is a text of seconds, a switch") func row74Seconds() throws {
        for issuedAt in ["SECONDS", "SECONDS.8115923", #""SECONDS""#, #""SECONDS.25""#] {
            expectAccepted(try Self.push(try Wire(), issuedAt: issuedAt))
        }
        for text in ["", ".", "-1", "0x10", "nan", " SECONDS", "1.2.3"] {
            expectRefused(try Self.push(try Wire(), issuedAt: "\"\(text)\""), 403, Self.invalid)
        }
        let strict = try Wire { _, state in state.rules.acceptsTextIssuedAt = false }
        expectRefused(try Self.push(strict, issuedAt: #""SECONDS""#), 403, Self.invalid)
        expectAccepted(try Self.push(strict, issuedAt: "SECONDS.5"))
    }

    private static func push(_ wire: Wire, issuedAt: String) throws -> WireAnswer {
        let milliseconds = wire.loop.now.unixMilliseconds
        let written = issuedAt.replacing("MS", with: "\(milliseconds)")
            .replacing("SECONDS", with: "\(milliseconds / 1000)")
        return wire.push(
            with: try wire.token(of: wire.apns.provider, claims: #"{"iss":"TEAM000001","iat":\#(written)}"#))
    }

    @Test("row 75: DER signature and raw signature") func row75() throws {
        let wire = try Wire()
        let provider = wire.apns.provider
        let raw = try wire.token(of: provider)
        let parts = raw.split(separator: ".").map(String.init)
        let signature = try #require(Array(parts[2].utf8).withUnsafeBytes { Base64URL.decode($0) })
        #expect(signature.count == 64)
        let der = Self.der(signature)
        #expect(der.first == 0x30)
        expectAccepted(wire.push(with: raw))
        expectAccepted(wire.push(with: "\(parts[0]).\(parts[1]).\(Base64URL.encode(der))"))
    }

    /// Returns the DER form of a signature, a SEQUENCE of two INTEGERs (RFC 3279, 2.2.3).
    private static func der(_ signature: [UInt8]) -> [UInt8] {
        let integers = [signature[..<32], signature[32...]].flatMap { half -> [UInt8] in
            let digits = Array(half.drop { $0 == 0 })
            let value = (digits.first ?? 0) >= 0x80 ? [0] + digits : digits
            return [2, UInt8(value.count)] + value
        }
        return [0x30, UInt8(integers.count)] + integers
    }

    @Test("row 76: the scheme in any case", arguments: ["Bearer", "bearer", "BEARER"]) func row76(scheme: String) throws
    {
        let wire = try Wire()
        expectAccepted(wire.push(["authorization": "\(scheme) \(wire.apns.token)"]))
    }

    @Test("row 78: a new token 21 minutes after the one before") func row78() throws {
        let wire = try Wire()
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        for _ in 0..<3 {
            wire.wait(.seconds(21 * 60))
            expectAccepted(wire.push(with: try wire.token(of: wire.apns.provider), on: peer))
        }
    }

    @Test("row 79: the third token within 20 minutes on one connection") func row79() throws {
        let wire = try Wire()
        let peer = wire.connect()
        let second = try wire.token(of: wire.apns.provider, ageSeconds: 1)
        let third = try wire.token(of: wire.apns.provider, ageSeconds: 2)
        expectAccepted(wire.push(on: peer))
        expectAccepted(wire.push(with: second, on: peer))
        expectRefused(wire.push(with: third, on: peer), 429, Self.tooManyUpdates)
        expectAccepted(wire.push(with: second, on: peer))
        expectAccepted(wire.push(with: third))
    }

    @Test(
        "row 80: the second token within 20 minutes, strict and lax",
        arguments: [RuleOptions.TokenUpdates.strict, .lax])
    func row80(mode: RuleOptions.TokenUpdates) throws {
        let wire = try Wire { _, state in state.rules.tokenUpdates = mode }
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        wire.wait(.seconds(19 * 60))
        let answer = wire.push(with: try wire.token(of: wire.apns.provider), on: peer)
        if mode == .strict { expectRefused(answer, 429, Self.tooManyUpdates) } else { expectAccepted(answer) }
    }

    @Test("row 81: one token on 20 connections") func row81() throws {
        let wire = try Wire()
        let peers = (0..<20).map { _ in wire.connect() }
        for _ in 0..<2 { for peer in peers { expectAccepted(wire.push(on: peer)) } }
    }

    @Test("row 82: tokens of one key on several connections") func row82() throws {
        let wire = try Wire { _, state in state.rules.tokenUpdates = .strict }
        for age in 0..<10 as Range<Int64> {
            expectAccepted(wire.push(with: try wire.token(of: wire.apns.provider, ageSeconds: age)))
        }
    }

    @Test("row 83: a token of another team on the connection") func row83() throws {
        let other = try Provider(teamID: "TEAM000002", keyID: "KEY0000002")
        let wire = try Wire { _, state in
            state.add(try! other.registered())
            state.addApp(bundleID: "com.example.theirs", teamID: "TEAM000002")
        }
        let theirs = try wire.token(of: other)
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        expectRefused(
            wire.push(["authorization": "bearer \(theirs)", "apns-topic": "com.example.theirs"], on: peer), 403,
            Self.invalid)
        expectAccepted(wire.push(on: peer))
        expectAccepted(wire.push(["authorization": "bearer \(theirs)", "apns-topic": "com.example.theirs"]))
    }

    /// Topic-specific keys: A, its related key A2, and the unrelated key B.
    private struct TopicKeys {
        let a: Provider
        let a2: Provider
        let b: Provider
        let wire: Wire

        init() throws {
            let a = try Provider(keyID: "KEYTOPIC0A")
            let a2 = try Provider(keyID: "KEYTOPICA2")
            let b = try Provider(keyID: "KEYTOPIC0B")
            wire = try Wire { _, state in
                state.addApp(bundleID: "com.example.second", teamID: "TEAM000001")
                for (provider, related) in [(a, "KEYTOPICA2"), (a2, nil), (b, nil)] as [(Provider, String?)] {
                    var key = try! provider.registered()
                    key.scope = .topics(["com.example.app"], relatedKeyID: related)
                    state.add(key)
                }
            }
            (self.a, self.a2, self.b) = (a, a2, b)
        }
    }

    @Test("row 84: a connection of topic key A, then the unrelated key B") func row84() throws {
        let keys = try TopicKeys()
        let peer = keys.wire.connect()
        expectAccepted(keys.wire.push(with: try keys.wire.token(of: keys.a), on: peer))
        expectRefused(keys.wire.push(with: try keys.wire.token(of: keys.b), on: peer), 403, Self.unrelated)
        expectAccepted(keys.wire.push(with: try keys.wire.token(of: keys.b)))
    }

    @Test("row 85: a connection of topic key A, then its related key A2") func row85() throws {
        let keys = try TopicKeys()
        let peer = keys.wire.connect()
        expectAccepted(keys.wire.push(with: try keys.wire.token(of: keys.a), on: peer))
        expectAccepted(keys.wire.push(with: try keys.wire.token(of: keys.a2), on: peer))
    }

    @Test("row 86: a connection of a team key, then a topic key, and the reverse") func row86() throws {
        let keys = try TopicKeys()
        let (team, topic) = (keys.wire.apns.token, try keys.wire.token(of: keys.a))
        for (first, second) in [(team, topic), (topic, team)] {
            let peer = keys.wire.connect()
            expectAccepted(keys.wire.push(with: first, on: peer))
            expectRefused(keys.wire.push(with: second, on: peer), 403, Self.unrelated)
        }
    }

    @Test("row 87: a key of production on the sandbox, in either spelling") func row87() throws {
        let production = try Provider(keyID: "KEYPRODUCT")
        let wire = try Wire { _, state in state.add(try! production.registered(environments: [.production])) }
        let token = try wire.token(of: production)
        expectRefused(wire.push(with: token), 403, #"{"reason":"BadEnvironmentKeyIdInToken"}"#)
        expectAccepted(wire.at(Wire.Place.production).push(with: token), in: .production)
        wire.change { $0.rules.keyEnvironmentReason = .unknown("BadEnvironmentKeyInToken") }
        expectRefused(wire.push(with: token), 403, #"{"reason":"BadEnvironmentKeyInToken"}"#)
    }

    @Test("row 88: an old key of both environments") func row88() throws {
        let wire = try Wire()
        expectAccepted(wire.push())
        expectAccepted(wire.at(Wire.Place.production).push(), in: .production)
    }

    @Test("row 89: a topic outside the topic key's scope") func row89() throws {
        let keys = try TopicKeys()
        let peer = keys.wire.connect()
        let token = try keys.wire.token(of: keys.a)
        expectAccepted(keys.wire.push(with: token, on: peer))
        expectRefused(
            keys.wire.push(["authorization": "bearer \(token)", "apns-topic": "com.example.second"], on: peer), 400,
            Self.topicDisallowed)
        expectAccepted(keys.wire.push(["apns-topic": "com.example.second"]))
    }

    @Test("row 90: an app that was added after the connection was bound") func row90() throws {
        let wire = try Wire()
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        wire.change { $0.addApp(bundleID: "com.example.new", teamID: "TEAM000001") }
        expectRefused(wire.push(["apns-topic": "com.example.new"], on: peer), 400, Self.topicDisallowed)
        expectAccepted(wire.push(on: peer))
        expectAccepted(wire.push(["apns-topic": "com.example.new"]))
    }

    @Test("row 91: a key that is revoked during a connection") func row91() throws {
        let wire = try Wire()
        let peer = wire.connect()
        expectAccepted(wire.push(on: peer))
        wire.change { $0.revokeKey(id: "KEY0000001") }
        for _ in 0..<2 { expectRefused(wire.push(on: peer), 403, Self.invalid) }
    }
}
