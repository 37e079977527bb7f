import APNSProtocol
import JSON
import Testing

@testable import APNSSimulator

/// Tests of switches by their names, with the defaults and with other values.
@Suite struct RuleOptionsTests {
    private let provider: Provider
    private var apns: Conversation

    init() throws {
        provider = try Provider()
        apns = try Conversation(provider)
    }

    private static func set(_ rules: String, _ apns: inout Conversation) throws {
        try RuleOptions.codec.read(try JSONDocument(rules).root, into: &apns.state.rules)
    }

    @Test(
        arguments: [
            (
                ["apns-push-type": "background", "apns-priority": "10"], "400 BadPriority", "background_priority_10",
                "accept", "200"
            ),
            (
                ["apns-push-type": "background", "apns-priority": "1"], "200", "priority_1", "BadPriority",
                "400 BadPriority"
            ),
            (["apns-priority": "1"], "200", "priority_1", "BadPriority", "200"),
            (["apns-push-type": "Alert"], "400 InvalidPushType", "push_type_case", "any", "200"),
            (["apns-push-type": "alerts"], "400 InvalidPushType", "push_type_case", "any", "400 InvalidPushType"),
            (["apns-id": "EABEAE54-14A8-11E5-B60B-1697F925EC7B"], "200", "id_case", "exact", "400 BadMessageId"),
            (["apns-expiration": "1750000000"], "200", "past_expiration", "BadExpirationDate", "400 BadExpirationDate"),
            (["apns-expiration": "0"], "200", "past_expiration", "BadExpirationDate", "200"),
            (["apns-expiration": "1770000000"], "200", "past_expiration", "BadExpirationDate", "200"),
            (
                ["apns-expiration": "1770000000000"], "200", "milliseconds_expiration", "BadExpirationDate",
                "400 BadExpirationDate"
            ),
            (["apns-expiration": "1770000000"], "200", "milliseconds_expiration", "BadExpirationDate", "200"),
            (["apns-push-type": "voip"], "400 TopicDisallowed", "wrong_suffix", "BadTopic", "400 BadTopic"),
            (
                ["apns-topic": "com.example.none"], "400 TopicDisallowed", "wrong_suffix", "BadTopic",
                "400 TopicDisallowed"
            ),
            (
                ["apns-topic": "com.example.none"], "400 TopicDisallowed", "foreign_topic", "DeviceTokenNotForTopic",
                "400 DeviceTokenNotForTopic"
            ),
            (["apns-push-type": "background"], "200", "background_content", "InvalidPushType", "400 InvalidPushType"),
            (["apns-push-type": "alert"], "200", "background_content", "InvalidPushType", "200"),
        ] as [([String: String?], String, String, String, String)])
    mutating func ofHeaders(changes: [String: String?], before: String, name: String, value: String, after: String)
        throws
    {
        #expect(shortened(apns.push(changes)) == before)
        try Self.set(#"{"\#(name)":"\#(value)"}"#, &apns)
        #expect(shortened(apns.push(changes)) == after)
    }

    /// Returns the status and the reason of an answer.
    private func shortened(_ answer: String) -> String {
        answer.replacing(#"{"reason":""#, with: "").replacing(#""}"#, with: "")
    }

    @Test mutating func malformedPayloads() throws {
        for (value, answer) in [
            ("PayloadEmpty", "400 PayloadEmpty"), ("BadRequestPayload", "400 BadRequestPayload"), ("accept", "200"),
        ] {
            try Self.set(#"{"malformed_payload":"\#(value)"}"#, &apns)
            #expect(shortened(apns.push(body: "[]")) == answer)
            #expect(shortened(apns.push(["content-encoding": "gzip"])) == answer)
        }
        #expect(shortened(apns.push(body: "")) == "400 PayloadEmpty")
    }

    @Test mutating func otherPayloadSizes() throws {
        let body = #"{"aps":"\#(String(repeating: "x", count: 4900))"}"#
        for (type, suffix, after) in [
            ("widgets", ".push-type.widgets", "200"), ("controls", ".push-type.controls", "200"), ("mdm", "", "200"),
            ("alert", "", "413 PayloadTooLarge"),
        ] {
            var apns = try Conversation(provider)
            let topic = "com.example.app" + suffix
            #expect(shortened(apns.push(type: type, topic: topic, body: body)) == "413 PayloadTooLarge")
            try Self.set(#"{"other_payload_bytes_max":5120}"#, &apns)
            #expect(shortened(apns.push(type: type, topic: topic, body: body)) == after, "\(type)")
        }
    }

    @Test mutating func duplicateHeaders() throws {
        let same = [("apns-topic", "com.example.app")]
        let other = [("apns-topic", "com.example.other")]
        #expect(shortened(apns.push(more: same)) == "400 DuplicateHeaders")
        try Self.set(#"{"accept_equal_duplicates":true}"#, &apns)
        #expect(apns.push(more: same) == "200")
        #expect(shortened(apns.push(more: other)) == "400 DuplicateHeaders")
        #expect(shortened(apns.push(more: other + same)) == "400 DuplicateHeaders")
        #expect(apns.push() == "200")
    }

    @Test(
        arguments: [
            (
                -7200, "403 InvalidProviderToken", #"{"token_future":"ExpiredProviderToken"}"#,
                "403 ExpiredProviderToken"
            ),
            (-7200, "403 InvalidProviderToken", #"{"token_future_seconds_max":7200}"#, "200"),
            (-60, "200", #"{"token_future_seconds_max":0}"#, "403 InvalidProviderToken"),
            (3700, "403 ExpiredProviderToken", #"{"token_age_seconds_max":3900}"#, "200"),
            (120, "200", #"{"token_age_seconds_max":60}"#, "403 ExpiredProviderToken"),
        ] as [(Int64, String, String, String)])
    mutating func agesOfTokens(ageSeconds: Int64, before: String, rules: String, after: String) throws {
        apns.token = try provider.token(ageSeconds: ageSeconds)
        #expect(shortened(apns.push()) == before)
        try Self.set(rules, &apns)
        #expect(shortened(apns.push()) == after)
    }

    @Test mutating func foreignKeys() throws {
        let otherTeam = try Provider(teamID: "TEAM000002", keyID: "KEY0000002")
        let topicKey = try Provider(keyID: "KEYTOPIC01")
        let elsewhere = try Provider(keyID: "KEYPROD001")
        apns.state.add(try otherTeam.registered())
        var key = try topicKey.registered()
        key.scope = .topics(["com.example.app"], relatedKeyID: nil)
        apns.state.add(key)
        apns.state.add(try elsewhere.registered(environments: [.production]))
        #expect(apns.push() == "200")
        for (provider, before, rules, after) in [
            (otherTeam, "403 InvalidProviderToken", #"{"other_team":"Forbidden"}"#, "403 Forbidden"),
            (
                topicKey, "403 UnrelatedKeyIdInToken", #"{"key_scope_mix":"InvalidProviderToken"}"#,
                "403 InvalidProviderToken"
            ),
            (
                elsewhere, "403 BadEnvironmentKeyIdInToken", #"{"key_environment":"BadEnvironmentKeyInToken"}"#,
                "403 BadEnvironmentKeyInToken"
            ),
        ] {
            apns.token = try provider.token()
            #expect(shortened(apns.push()) == before)
            try Self.set(rules, &apns)
            #expect(shortened(apns.push()) == after)
        }
    }

    // Each of two related keys has a new token within 20 minutes.
    @Test func updatesOfRelatedKeys() throws {
        for (rules, last) in [("{}", "429 TooManyProviderTokenUpdates"), (#"{"token_updates_per_key":true}"#, "200")] {
            var apns = try Conversation(provider)
            try Self.set(rules, &apns)
            let keys = [try Provider(keyID: "KEYTOPIC01"), try Provider(keyID: "KEYTOPIC02")]
            for provider in keys {
                var key = try provider.registered()
                key.scope = .topics(["com.example.app"], relatedKeyID: "KEYTOPIC02")
                apns.state.add(key)
            }
            var answers: [String] = []
            for provider in keys + keys {
                apns.token = try provider.token(ageSeconds: 60 + Int64(answers.count))
                answers.append(shortened(apns.push()))
            }
            #expect(answers.prefix(2) == ["200", "200"])
            #expect(answers[2] == last)
        }
    }

    @Test mutating func retryAfter() throws {
        for (rules, seconds) in [("{}", nil), (#"{"retry_after_seconds":30}"#, 30)] as [(String, Int?)] {
            try Self.set(rules, &apns)
            try Self.set(#"{"device_requests_per_second_max":1}"#, &apns)
            var answer = Answer.accepted
            for _ in 0..<2 {
                answer = apns.answer(
                    to: [
                        (":method", "POST"), (":path", "/3/device/aa"), ("authorization", "bearer \(apns.token)"),
                        ("apns-topic", "com.example.app"),
                    ], body: "{}")
            }
            #expect(answer.reason == .tooManyRequests)
            #expect(answer.retryAfterSeconds == seconds)
        }
    }

    @Test mutating func foreignChannels() throws {
        apns.state.addApp(bundleID: "com.example.app", teamID: "TEAM000001", allowsBroadcasts: true)
        apns.state.add(
            Channel(id: "AAAA", bundleID: "com.example.app", environment: .production, storagePolicy: .newest))
        for (rules, known, unknown) in [
            ("{}", "400 ChannelNotRegistered", "400 ChannelNotRegistered"),
            (#"{"foreign_channel":"BadChannelId"}"#, "400 BadChannelId", "400 ChannelNotRegistered"),
        ] {
            try Self.set(rules, &apns)
            for (id, answer) in [("AAAA", known), ("BBBB", unknown)] {
                let broadcast = apns.answer(
                    to: [
                        (":method", "POST"), (":path", "/4/broadcasts/apps/com.example.app"),
                        ("authorization", "bearer \(apns.token)"), ("apns-channel-id", id),
                        ("apns-push-type", "liveactivity"),
                    ], body: "{}")
                #expect(shortened(apns.text(of: broadcast)) == answer)
            }
        }
    }

    @Test mutating func keyErrorsOfChannelManagement() throws {
        let elsewhere = try Provider(keyID: "KEYPROD001")
        apns.state.add(try elsewhere.registered(environments: [.production]))
        apns.connection = ConnectionMemory(service: Service(.sandbox, .channelManagement))
        apns.token = try elsewhere.token()
        for (rules, answer) in [
            ("{}", "403 BadEnvironmentKeyIdInToken"),
            (#"{"channels_tell_key_faults":false}"#, "403 InvalidProviderToken"),
        ] {
            try Self.set(rules, &apns)
            let list = apns.answer(to: [
                (":method", "GET"), (":path", "/1/apps/com.example.app/all-channels"),
                ("authorization", "bearer \(apns.token)"),
            ])
            #expect(shortened(apns.text(of: list)) == answer)
        }
    }
}
