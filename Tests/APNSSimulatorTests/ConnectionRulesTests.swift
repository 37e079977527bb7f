import APNSProtocol
import EventLoop
import Testing

@testable import APNSSimulator

private let unrelated = #"403 {"reason":"UnrelatedKeyIdInToken"}"#
private let tooManyUpdates = #"429 {"reason":"TooManyProviderTokenUpdates"}"#

/// Tests of the binding of a connection by its first push.
@Suite struct ConnectionBindingTests {
    private var apns: Conversation
    private let teamKey: Provider
    private let topicKey: Provider
    private let relatedKey: Provider
    private let strangerKey: Provider
    private let otherTeam: Provider

    init() throws {
        teamKey = try Provider(keyID: "KEY0000001")
        topicKey = try Provider(keyID: "KEYTOPIC01")
        relatedKey = try Provider(keyID: "KEYTOPIC02")
        strangerKey = try Provider(keyID: "KEYTOPIC03")
        otherTeam = try Provider(teamID: "TEAM000002", keyID: "KEY0000002")
        apns = try Conversation(teamKey)
        for (provider, related) in [(topicKey, "KEYTOPIC02"), (relatedKey, nil), (strangerKey, nil)]
            as [(Provider, String?)]
        {
            var key = try provider.registered()
            key.scope = .topics(["com.example.app"], relatedKeyID: related)
            apns.state.add(key)
        }
        apns.state.add(try otherTeam.registered())
    }

    private mutating func push(by provider: Provider) throws -> String {
        apns.token = try provider.token()
        return apns.push()
    }

    @Test mutating func anotherTeamIsRefused() throws {
        #expect(try push(by: teamKey) == "200")
        #expect(try push(by: otherTeam) == #"403 {"reason":"InvalidProviderToken"}"#)
        #expect(try push(by: teamKey) == "200")
    }

    @Test mutating func relatedTopicKeysShareAConnection() throws {
        #expect(try push(by: topicKey) == "200")
        #expect(try push(by: relatedKey) == "200")
        #expect(try push(by: strangerKey) == unrelated)
    }

    @Test mutating func theRelationHoldsBothWays() throws {
        #expect(try push(by: relatedKey) == "200")
        #expect(try push(by: topicKey) == "200")
    }

    @Test mutating func teamAndTopicKeysDoNotMix() throws {
        #expect(try push(by: teamKey) == "200")
        #expect(try push(by: topicKey) == unrelated)
        apns.connection = ConnectionMemory()
        #expect(try push(by: topicKey) == "200")
        #expect(try push(by: teamKey) == unrelated)
    }

    @Test func aSecondTeamKeyIsASwitch() throws {
        let second = try Provider(keyID: "KEY0000009")
        for (allows, answer) in [(true, "200"), (false, unrelated)] {
            var options = RuleOptions()
            options.allowsTeamKeyRotation = allows
            var apns = try Conversation(teamKey, options: options)
            apns.state.add(try second.registered())
            #expect(apns.push() == "200")
            apns.token = try second.token()
            #expect(apns.push() == answer)
        }
    }

    @Test mutating func aTopicKeyPushesToItsTopicsOnly() throws {
        apns.state.addApp(bundleID: "com.example.second", teamID: "TEAM000001")
        apns.token = try topicKey.token()
        #expect(apns.push() == "200")
        #expect(apns.push(["apns-topic": "com.example.second"]) == #"400 {"reason":"TopicDisallowed"}"#)
    }

    @Test mutating func appsAddedLaterNeedANewConnection() {
        #expect(apns.push() == "200")
        apns.state.addApp(bundleID: "com.example.second", teamID: "TEAM000001")
        #expect(apns.push(["apns-topic": "com.example.second"]) == #"400 {"reason":"TopicDisallowed"}"#)
        #expect(apns.push() == "200")
        apns.connection = ConnectionMemory()
        #expect(apns.push(["apns-topic": "com.example.second"]) == "200")
    }

    @Test mutating func aRefusedFirstTokenBindsNothing() throws {
        apns.token = try otherTeam.token(ageSeconds: 4000)
        #expect(apns.push() == #"403 {"reason":"ExpiredProviderToken"}"#)
        #expect(try push(by: teamKey) == "200")
    }
}

/// Tests of new provider tokens on one connection.
@Suite struct TokenUpdateLimitTests {
    private let provider: Provider

    init() throws { provider = try Provider() }

    private func connection(_ mode: RuleOptions.TokenUpdates) throws -> Conversation {
        var options = RuleOptions()
        options.tokenUpdates = mode
        return try Conversation(provider, options: options)
    }

    private func wait(minutes: Int64, _ apns: inout Conversation) {
        apns.now.unixNanoseconds += minutes * 60_000_000_000
        apns.now.monotonic = apns.now.monotonic + .seconds(minutes * 60)
    }

    private func pushWithNewToken(_ apns: inout Conversation, number: Int64) throws -> String {
        let issuedAt = apns.now.unixSeconds - number
        apns.token = try provider.token(claims: #"{"iss":"\#(provider.teamID)","iat":\#(issuedAt)}"#)
        return apns.push()
    }

    @Test func laxAllowsTwoTokensInTwentyMinutes() throws {
        var apns = try connection(.lax)
        #expect(apns.push() == "200")
        let first = apns.token
        wait(minutes: 5, &apns)
        #expect(try pushWithNewToken(&apns, number: 1) == "200")
        wait(minutes: 19, &apns)
        #expect(try pushWithNewToken(&apns, number: 2) == tooManyUpdates)
        apns.token = first
        #expect(apns.push() == "200")
        wait(minutes: 1, &apns)
        #expect(try pushWithNewToken(&apns, number: 3) == "200")
    }

    @Test func strictCountsTheFirstToken() throws {
        var apns = try connection(.strict)
        #expect(apns.push() == "200")
        wait(minutes: 19, &apns)
        #expect(try pushWithNewToken(&apns, number: 1) == tooManyUpdates)
        wait(minutes: 2, &apns)
        #expect(try pushWithNewToken(&apns, number: 2) == "200")
    }

    @Test func offAllowsAnyNumber() throws {
        var apns = try connection(.off)
        for number in 0..<10 as Range<Int64> { #expect(try pushWithNewToken(&apns, number: number) == "200") }
    }

    @Test func reverifiedTokensAreNotNew() throws {
        var apns = try connection(.strict)
        #expect(apns.push() == "200")
        apns.state.revokeKey(id: "KEY0000009")
        apns.state.addApp(bundleID: "com.example.second", teamID: provider.teamID)
        #expect(apns.push() == "200")
        #expect(apns.connection.tokensVerified == 2)
    }

    @Test func eachConnectionHasItsOwnCount() throws {
        var apns = try connection(.strict)
        #expect(apns.push() == "200")
        apns.connection = ConnectionMemory()
        #expect(try pushWithNewToken(&apns, number: 1) == "200")
    }
}

/// Tests of the limit of pushes to one device token in a second.
@Suite struct DeviceRatesTests {
    @Test func eachDeviceHasItsOwnCount() throws {
        var options = RuleOptions()
        options.requestsPerDeviceMax = 2
        var apns = try Conversation(Provider(), options: options)
        let other: [String: String?] = [":path": "/3/device/ABCD"]
        for _ in 0..<2 { #expect(apns.push() == "200") }
        for _ in 0..<2 { #expect(apns.push() == #"429 {"reason":"TooManyRequests"}"#) }
        #expect(apns.push(other) == "200")
        #expect(apns.push([":path": "/3/device/abcd"]) == "200")
        #expect(apns.push(other) == #"429 {"reason":"TooManyRequests"}"#)
        apns.now.unixNanoseconds += 1_000_000_000
        #expect(apns.push() == "200")
    }

    @Test func theNumberOfDevicesIsLimited() {
        var rates = RateLimit()
        func admits(_ device: Int) -> Bool {
            withBytes(String(device, radix: 16)) {
                rates.admits(deviceToken: $0, at: Provider.now, requestsMax: 1)
            }
        }
        for device in 0..<(RateLimit.targetsMax + 10) { #expect(admits(device)) }
        #expect(!admits(0))
        #expect(admits(RateLimit.targetsMax + 1))
    }
}
