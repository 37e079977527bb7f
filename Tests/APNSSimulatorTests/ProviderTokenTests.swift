import APNSProtocol
import Crypto
import EventLoop
import Testing

@testable import APNSSimulator

@Suite struct ProviderTokenTests {
    private let provider: Provider
    private var apns: Conversation
    private let invalid = #"403 {"reason":"InvalidProviderToken"}"#
    private let missing = #"403 {"reason":"MissingProviderToken"}"#
    private let expired = #"403 {"reason":"ExpiredProviderToken"}"#

    init() throws {
        provider = try Provider()
        apns = try Conversation(provider)
    }

    @Test mutating func aTokenIsRequired() {
        #expect(apns.push(["authorization": nil]) == missing)
        for none in ["", "bearer", "bearer ", "basic abc"] { #expect(apns.push(["authorization": none]) == missing) }
    }

    @Test func tokensCanBeOptional() throws {
        var options = RuleOptions()
        options.servesWithoutToken = true
        var apns = try Conversation(provider, options: options)
        #expect(apns.push(["authorization": nil]) == "200")
        #expect(apns.push(["authorization": "bearer nonsense"]) == invalid)
    }

    @Test mutating func theSchemesCaseDoesNotMatter() {
        for scheme in ["bearer", "Bearer", "BEARER"] {
            #expect(apns.push(["authorization": "\(scheme) \(apns.token)"]) == "200")
        }
    }

    @Test mutating func badFormsAreInvalid() throws {
        let good = try provider.token()
        let parts = good.split(separator: ".")
        for bad in [
            "x", "..", "a.b.c", String(good.dropLast()), "\(good)a", "\(good).x", "\(parts[0]).\(parts[1])",
            "\(parts[0]).\(parts[1]).", "\(parts[1]).\(parts[0]).\(parts[2])", String(repeating: "a", count: 7000),
        ] {
            #expect(apns.push(["authorization": "bearer \(bad)"]) == invalid)
        }
    }

    @Test mutating func theSignatureIsChecked() throws {
        apns.token = try provider.token(signedBy: ES256PrivateKey.generate())
        #expect(apns.push() == invalid)
        apns.token = try provider.token(signature: Array(repeating: 0, count: 64))
        #expect(apns.push() == invalid)
    }

    @Test mutating func otherAlgorithmsAreInvalid() throws {
        for algorithm in ["HS256", "none", "RS256", "es256"] {
            apns.token = try provider.token(header: #"{"alg":"\#(algorithm)","kid":"KEY0000001"}"#)
            #expect(apns.push() == invalid)
        }
        apns.token = try provider.token(header: #"{"kid":"KEY0000001"}"#)
        #expect(apns.push() == invalid)
    }

    @Test mutating func theKeyBelongsToTheTeam() throws {
        apns.token = try provider.token(header: #"{"alg":"ES256","kid":"KEY0000009"}"#)
        #expect(apns.push() == invalid)
        apns.token = try provider.token(claims: #"{"iss":"TEAM000009","iat":\#(apns.now.unixSeconds)}"#)
        #expect(apns.push() == invalid)
    }

    @Test mutating func extraFieldsAreTolerated() throws {
        apns.token = try provider.token(
            header: #"{"alg":"ES256","kid":"KEY0000001","typ":"JWT"}"#,
            claims: #"{"iss":"TEAM000001","iat":\#(apns.now.unixSeconds),"kid":"KEY0000001"}"#)
        #expect(apns.push() == "200")
    }

    @Test mutating func issuedAtIsANumberOfSeconds() throws {
        let milliseconds = apns.now.unixMilliseconds
        for bad in [#""\#(milliseconds)""#, "\(milliseconds)", "null", "true", "-1", "1e400", "9223372036854775807"] {
            apns.token = try provider.token(claims: #"{"iss":"TEAM000001","iat":\#(bad)}"#)
            #expect(apns.push() == invalid, "\(bad)")
        }
        apns.token = try provider.token(claims: #"{"iss":"TEAM000001"}"#)
        #expect(apns.push() == invalid)
        for old in ["0", "1.5"] {
            apns.token = try provider.token(claims: #"{"iss":"TEAM000001","iat":\#(old)}"#)
            #expect(apns.push() == expired, "\(old)")
        }
    }

    @Test mutating func tokensAreValidForAnHour() throws {
        for (ageSeconds, answer) in [
            (59 * 60, "200"), (3600, "200"), (3601, expired), (61 * 60, expired), (-3600, "200"), (-7200, invalid),
        ] as [(Int64, String)] {
            apns.connection = ConnectionMemory()
            apns.token = try provider.token(ageSeconds: ageSeconds)
            #expect(apns.push() == answer, "\(ageSeconds)")
        }
    }

    @Test mutating func acceptedTokensExpire() throws {
        apns.token = try provider.token(ageSeconds: 3590)
        #expect(apns.push() == "200")
        apns.now.unixNanoseconds += 11_000_000_000
        #expect(apns.push() == expired)
    }

    @Test mutating func rawAndDERSignaturesAreAccepted() throws {
        let parts = try provider.token().split(separator: ".")
        let raw = try #require(Base64URL.decode(String(parts[2])))
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            let digits = Array(bytes.drop { $0 == 0 })
            let padded = digits.first.map { $0 >= 0x80 } ?? true ? [0] + digits : digits
            return [0x02, UInt8(padded.count)] + padded
        }
        let sequence = integer(raw[..<32]) + integer(raw[32...])
        let der = [0x30, UInt8(sequence.count)] + sequence
        #expect(apns.push(["authorization": "bearer \(parts[0]).\(parts[1]).\(Base64URL.encode(der))"]) == "200")
    }

    @Test mutating func aTokenIsVerifiedOncePerConnection() throws {
        for _ in 0..<5 { _ = apns.push() }
        #expect(apns.connection.tokensVerified == 1)
        let first = apns.token
        apns.token = try provider.token(ageSeconds: 61)
        _ = apns.push()
        apns.token = first
        _ = apns.push()
        #expect(apns.connection.tokensVerified == 2)
    }

    @Test func theNumberOfTokensIsLimited() throws {
        var options = RuleOptions()
        options.tokenUpdates = .off
        var apns = try Conversation(provider, options: options)
        for age in 0..<20 {
            apns.token = try provider.token(ageSeconds: Int64(age))
            #expect(apns.push() == "200")
        }
        #expect(apns.connection.tokensVerified == 20)
        #expect(apns.push() == "200")
        #expect(apns.connection.tokensVerified == 20)
    }

    @Test mutating func revokedKeysAreRefusedImmediately() {
        #expect(apns.push() == "200")
        apns.state.revokeKey(id: "KEY0000001")
        #expect(apns.push() == invalid)
    }

    @Test mutating func aKeyOfTheOtherEnvironmentIsRefused() throws {
        apns.state.add(try provider.registered(environments: [.production]))
        #expect(apns.push() == #"403 {"reason":"BadEnvironmentKeyIdInToken"}"#)
    }

    @Test mutating func anotherTeamMayNotUseTheTopic() throws {
        let other = try Provider(teamID: "TEAM000002", keyID: "KEY0000002")
        apns.state.add(try other.registered())
        apns.token = try other.token()
        #expect(apns.push() == #"400 {"reason":"TopicDisallowed"}"#)
        apns.state.acceptsUnknownTopics = true
        #expect(apns.push() == "200")
    }

    @Test func theOrderOfChecksIsASwitch() throws {
        var options = RuleOptions()
        let bad: [String: String?] = ["authorization": nil, "apns-topic": nil]
        var headersFirst = try Conversation(provider, options: options)
        #expect(headersFirst.push(bad) == #"400 {"reason":"MissingTopic"}"#)
        options.order = .authenticationFirst
        var authenticationFirst = try Conversation(provider, options: options)
        #expect(authenticationFirst.push(bad) == missing)
        #expect(authenticationFirst.push() == "200")
    }
}
