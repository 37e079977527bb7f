import APNSProtocol
import JSON
import Text

/// One of the rules' switches by name, as it stands below `rules` in states.
struct RuleSwitch: Sendable {
    let name: String
    /// Sets it to what the object says; leaves it when the object says nothing of it.
    let read: @Sendable (Members, inout RuleOptions) throws(InputError) -> Void
    /// Writes its value.
    let write: @Sendable (RuleOptions, inout JSONWriter) -> Void

    typealias Place<Value> = any WritableKeyPath<RuleOptions, Value> & Sendable

    static let all: [RuleSwitch] = [
        word("order", \.order),
        word("gate", \.gate),
        word("gate_violation", \.gateViolation),
        number("streams_max", \.streamsMax, 1...4096),
        word("token_updates", \.tokenUpdates),
        flag("token_updates_per_key", \.countsTokenUpdatesPerKey),
        number("token_age_seconds_max", \.tokenAgeSecondsMax, 1...Int(Int32.max)),
        number("token_future_seconds_max", \.futureTokenSecondsMax, 0...Int(Int32.max)),
        reason("token_future", \.futureTokenReason, [.invalidProviderToken, .expiredProviderToken]),
        flag("token_issued_at_text", \.acceptsTextIssuedAt),
        reason("other_team", \.otherTeamReason, [.invalidProviderToken, .unrelatedKeyIDInToken, .forbidden]),
        reason("key_scope_mix", \.keyScopeReason, [.unrelatedKeyIDInToken, .invalidProviderToken]),
        reason(
            "key_environment", \.keyEnvironmentReason,
            [.badEnvironmentKeyIDInToken, .unknown("BadEnvironmentKeyInToken")]),
        flag("channels_tell_key_faults", \.channelsTellKeyFaults),
        flag("team_key_rotation", \.allowsTeamKeyRotation),
        reason("foreign_topic", \.foreignTopicReason, [.topicDisallowed, .badTopic, .deviceTokenNotForTopic]),
        reason("wrong_suffix", \.wrongSuffixReason, [.topicDisallowed, .badTopic, .deviceTokenNotForTopic]),
        limit("device_requests_per_second_max", \.requestsPerDeviceMax, 1...1_000_000),
        limit("channel_requests_per_second_max", \.requestsPerChannelMax, 1...1_000_000),
        limit("retry_after_seconds", \.retryAfterSeconds, 0...1_000_000),
        reason("wrong_method", \.wrongMethodReason, [.methodNotAllowed, .badPath]),
        flag("broadcast_expiration_required", \.demandsBroadcastExpiration),
        flag("broadcast_priority_required", \.demandsBroadcastPriority),
        reason("foreign_channel", \.foreignChannelReason, [.channelNotRegistered, .badChannelID]),
        reason("location_by_certificate", \.locationByCertificateReason, [.forbidden, .topicDisallowed]),
        refusal("background_priority_10", \.backgroundImmediateReason, [.badPriority, .invalidPushType]),
        refusal("priority_1", \.powerFirstReason, [.badPriority]),
        refusal("background_content", \.backgroundContentReason, [.invalidPushType, .badRequestPayload]),
        refusal(
            "malformed_payload", \.malformedPayloadReason, [.payloadEmpty, .badRequestPayload, .badRequestParams]),
        number("other_payload_bytes_max", \.otherPayloadBytesMax, 1...APNSLimits.payloadBytesMaxVoIP),
        word("push_type_case", \.pushTypeCase),
        word("id_case", \.idCase),
        flag("accept_equal_duplicates", \.acceptsEqualDuplicates),
        refusal("past_expiration", \.pastExpirationReason, [.badExpirationDate]),
        refusal("milliseconds_expiration", \.millisecondsExpirationReason, [.badExpirationDate]),
        limit("errors_in_a_row_max", \.errorsInARowMax, 0...1_000_000),
        limit("errors_max", \.errorsMax, 0...1_000_000_000),
        limit("bad_device_tokens_max", \.badDeviceTokensMax, 0...1_000_000_000),
        number("errors_window_seconds", \.errorsWindowSeconds, 1...1_000_000),
        word("errors_end", \.errorsEnd),
        limit("short_connections_max", \.shortConnectionsMax, 1...1_000_000),
        number("short_connections_window_seconds", \.shortConnectionsWindowSeconds, 1...1_000_000),
        number("refusal_seconds", \.refusalSeconds, 1...1_000_000),
        limit("idle_seconds_max", \.idleSecondsMax, 1...10_000_000),
        word("idle_end", \.idleEnd),
        limit("stale_idle_seconds", \.staleIdleSeconds, 1...10_000_000),
        flag("accept_no_token", \.servesWithoutToken),
    ]

    private static func flag(_ name: String, _ place: Place<Bool>) -> RuleSwitch {
        RuleSwitch(
            name: name,
            read: { members, rules throws(InputError) in
                if let value = try members.bool(name) { rules[keyPath: place] = value }
            }, write: { rules, json in json.bool(rules[keyPath: place]) })
    }

    private static func number(_ name: String, _ place: Place<Int>, _ range: ClosedRange<Int>) -> RuleSwitch {
        RuleSwitch(
            name: name,
            read: { members, rules throws(InputError) in
                if let value = try members.int(name, range) { rules[keyPath: place] = value }
            }, write: { rules, json in json.int(Int64(rules[keyPath: place])) })
    }

    /// A number, or null for no limit.
    private static func limit(_ name: String, _ place: Place<Int?>, _ range: ClosedRange<Int>) -> RuleSwitch {
        RuleSwitch(
            name: name,
            read: { members, rules throws(InputError) in
                guard let value = members[name] else { return }
                rules[keyPath: place] = value.isNull ? nil : try members.int(name, range)
            },
            write: { rules, json in
                if let limit = rules[keyPath: place] { json.int(Int64(limit)) } else { json.null() }
            })
    }

    private static func word<Word: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ place: Place<Word>
    ) -> RuleSwitch {
        RuleSwitch(
            name: name,
            read: { members, rules throws(InputError) in
                if let value = try members.word(name) as Word? { rules[keyPath: place] = value }
            }, write: { rules, json in json.string(rules[keyPath: place].rawValue) })
    }

    /// The reason with which something is refused.
    private static func reason(_ name: String, _ place: Place<Reason>, _ reasons: [Reason]) -> RuleSwitch {
        RuleSwitch(
            name: name,
            read: { members, rules throws(InputError) in
                guard let text = try word(name, of: reasons.map(\.text), in: members) else { return }
                rules[keyPath: place] = reasons.first { $0.text == text } ?? rules[keyPath: place]
            }, write: { rules, json in json.string(rules[keyPath: place].text) })
    }

    /// The reason with which something is refused, or the word that says that it is not.
    private static func refusal(_ name: String, _ place: Place<Reason?>, _ reasons: [Reason]) -> RuleSwitch {
        RuleSwitch(
            name: name,
            read: { members, rules throws(InputError) in
                guard let text = try word(name, of: reasons.map(\.text) + [accept], in: members) else { return }
                rules[keyPath: place] = reasons.first { $0.text == text }
            }, write: { rules, json in json.string(rules[keyPath: place]?.text ?? accept) })
    }

    private static let accept = "accept"

    private static func word(_ name: String, of words: [String], in members: Members) throws(InputError) -> String? {
        guard let value = members[name] else { return nil }
        guard let word = value.string, words.contains(word) else {
            throw members.error(
                name,
                "is \(words.joined(separator: " or "))"
                    + Suggestion.hint(for: value.string ?? "", among: words))
        }
        return word
    }
}
