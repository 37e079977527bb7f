import APNSProtocol
import JSON

extension RuleOptions {
    /// The switches in `rules` of a state and in `/v1/rules`. The guide's table has the same descriptions.
    static let codec = ObjectCodec(
        "rules", from: RuleOptions(), orderFields + tokenFields + topicFields + pushFields + connectionFields)

    private static let orderFields: [ObjectField<RuleOptions>] = [
        .member("order", \.order, .word, "first check of a request that has several errors"),
        .member(
            "gate", \.gate, .word,
            "limit of one stream until the response to the first push with a valid provider token"),
        .member("gate_violation", \.gateViolation, .word, "reaction to a further stream: RST_STREAM or GOAWAY"),
        .member(
            "streams_max", \.streamsMax, .int(1...4096),
            "maximum number of streams of a connection after its first authenticated push"),
    ]

    private static let tokenFields: [ObjectField<RuleOptions>] = [
        .member(
            "token_updates", \.tokenUpdates, .word,
            "limit of one new provider token on a connection in 20 minutes: `lax` does not count the first token, "
                + "`strict` counts the first token, `off` sets no limit"),
        .member(
            "token_updates_per_key", \.countsTokenUpdatesPerKey, .bool,
            "counts the tokens of each related key separately"),
        .member(
            "token_age_seconds_max", \.tokenAgeSecondsMax, .int(1...Int(Int32.max)),
            "maximum age of a provider token; an older token receives `ExpiredProviderToken`"),
        .member(
            "token_future_seconds_max", \.futureTokenSecondsMax, .int(0...Int(Int32.max)),
            "maximum time by which a provider token may be dated in the future"),
        .member(
            "token_future", \.futureTokenReason, .reason(.invalidProviderToken, .expiredProviderToken),
            "refusal of a provider token dated later than `token_future_seconds_max` allows"),
        .member(
            "token_issued_at_text", \.acceptsTextIssuedAt, .bool,
            "accepts a string of seconds as `iat`, which some clients send"),
        .member(
            "other_team", \.otherTeamReason, .reason(.invalidProviderToken, .unrelatedKeyIDInToken, .forbidden),
            "refusal of a token whose team is not the team of the connection's first token"),
        .member(
            "key_scope_mix", \.keyScopeReason, .reason(.unrelatedKeyIDInToken, .invalidProviderToken),
            "refusal of a team-scoped key after a topic-specific key, or the reverse"),
        .member(
            "key_environment", \.keyEnvironmentReason,
            .reason(.badEnvironmentKeyIDInToken, .unknown("BadEnvironmentKeyInToken")),
            "refusal of a key of the other environment"),
        .member(
            "channels_tell_key_faults", \.channelsReportKeyFaults, .bool,
            "channel management returns the reasons of `key_scope_mix` and `key_environment`, not "
                + "`InvalidProviderToken`"),
        .member(
            "team_key_rotation", \.allowsTeamKeyRotation, .bool, "allows further team-scoped keys on a connection"),
    ]

    private static let topicFields: [ObjectField<RuleOptions>] = [
        .member(
            "foreign_topic", \.foreignTopicReason, .reason(.topicDisallowed, .badTopic, .deviceTokenNotForTopic),
            "refusal of a topic that does not belong to the team, the key or the certificate"),
        .member(
            "wrong_suffix", \.wrongSuffixReason, .reason(.topicDisallowed, .badTopic, .deviceTokenNotForTopic),
            "refusal of a topic without the suffix of the push type"),
        .member(
            "device_requests_per_second_max", \.requestsPerDeviceMax, .limit(1...1_000_000),
            "maximum number of pushes to one device in a second, then `TooManyRequests`; null: no limit"),
        .member(
            "channel_requests_per_second_max", \.requestsPerChannelMax, .limit(1...1_000_000),
            "maximum number of broadcasts to one channel in a second, then `TooManyRequests`; null: no limit"),
        .member(
            "retry_after_seconds", \.retryAfterSeconds, .limit(0...1_000_000),
            "`retry-after` header of `TooManyRequests`; null: no such header"),
        .member(
            "wrong_method", \.wrongMethodReason, .reason(.methodNotAllowed, .badPath),
            "refusal of a wrong method for broadcasts and channels"),
        .member(
            "broadcast_expiration_required", \.demandsBroadcastExpiration, .bool,
            "returns `BadExpirationDate` for a broadcast without `apns-expiration`"),
        .member(
            "broadcast_priority_required", \.demandsBroadcastPriority, .bool,
            "returns `BadPriority` for a broadcast without `apns-priority`"),
        .member(
            "foreign_channel", \.foreignChannelReason, .reason(.channelNotRegistered, .badChannelID),
            "refusal of a channel of another app or environment"),
    ]

    private static let pushFields: [ObjectField<RuleOptions>] = [
        .member(
            "location_by_certificate", \.locationByCertificateReason, .reason(.forbidden, .topicDisallowed),
            "refusal of a `location` push with a certificate"),
        .member(
            "background_priority_10", \.backgroundImmediateReason, .refusal(.badPriority, .invalidPushType),
            "refusal of a `background` push with priority 10"),
        .member(
            "priority_1", \.powerFirstReason, .refusal(.badPriority),
            "refusal of `background`, `liveactivity` and `voip` pushes with priority 1"),
        .member(
            "background_content", \.backgroundContentReason, .refusal(.invalidPushType, .badRequestPayload),
            "refusal of a `background` push with an alert, a badge or a sound"),
        .member(
            "malformed_payload", \.malformedPayloadReason,
            .refusal(.payloadEmpty, .badRequestPayload, .badRequestParams),
            "refusal of a body that is not a JSON object or is declared as compressed"),
        .member(
            "other_payload_bytes_max", \.otherPayloadBytesMax, .int(1...APNSLimits.payloadBytesMaxVoIP),
            "maximum payload of an `mdm`, `widgets` or `controls` push"),
        .member(
            "push_type_case", \.pushTypeCase, .word,
            "letter case of `apns-push-type` in device pushes; `any`: case does not matter"),
        .member(
            "id_case", \.idCase, .word, "letter case of `apns-id` and `apns-request-id`; `exact`: lower case"),
        .member(
            "accept_equal_duplicates", \.acceptsEqualDuplicates, .bool,
            "accepts a repeated header if all of its values are equal"),
        .member(
            "past_expiration", \.pastExpirationReason, .refusal(.badExpirationDate),
            "refusal of an expiration in the past"),
        .member(
            "milliseconds_expiration", \.millisecondsExpirationReason, .refusal(.badExpirationDate),
            "refusal of an expiration of \(HeaderForm.unixSecondsMax) or more, which must be a time in milliseconds"),
    ]

    private static let connectionFields: [ObjectField<RuleOptions>] = [
        .member(
            "errors_in_a_row_max", \.errorsInARowMax, .limit(0...1_000_000),
            "refusals (4xx except 410) in a row before the simulator limits the connection to one stream; "
                + "APNs was observed to do this after one refusal; null: never"),
        .member(
            "errors_max", \.errorsMax, .limit(0...1_000_000_000),
            "refusals within `errors_window_seconds` before the simulator closes the connection; null: never"),
        .member(
            "bad_device_tokens_max", \.badDeviceTokensMax, .limit(0...1_000_000_000),
            "`BadDeviceToken` refusals within `errors_window_seconds` before the simulator closes the connection; "
                + "null: never"),
        .member(
            "errors_window_seconds", \.errorsWindowSeconds, .int(1...1_000_000),
            "window of `errors_max` and `bad_device_tokens_max`"),
        .member(
            "errors_end", \.errorsEnd, .word,
            "how the simulator closes a connection with too many refusals: with or without GOAWAY"),
        .member(
            "short_connections_max", \.shortConnectionsMax, .limit(1...1_000_000),
            "connections from one address, with fewer than ten requests each, within "
                + "`short_connections_window_seconds` before the simulator refuses the address; null: never"),
        .member(
            "short_connections_window_seconds", \.shortConnectionsWindowSeconds, .int(1...1_000_000),
            "window of `short_connections_max`"),
        .member(
            "refusal_seconds", \.refusalSeconds, .int(1...1_000_000),
            "time for which the simulator refuses the address"),
        .member(
            "idle_seconds_max", \.idleSecondsMax, .limit(1...10_000_000),
            "maximum idle time of a connection; null: unlimited"),
        .member(
            "idle_end", \.idleEnd, .word,
            "reaction to an idle connection: GOAWAY, or 400 for its next request"),
        .member(
            "stale_idle_seconds", \.staleIdleSeconds, .limit(1...10_000_000),
            "idle time after which all requests on a connection receive 500; null: never"),
        .member(
            "accept_no_token", \.servesWithoutToken, .bool,
            "accepts requests without a provider token; same as `--accept-no-token`"),
    ]
}

extension ValueCodec<Int?> {
    /// Returns the codec of a whole number; null for no limit.
    fileprivate static func limit(_ range: ClosedRange<Int>) -> Self { ValueCodec<Int>.int(range).nullable }
}

extension ValueCodec<Reason> {
    /// Returns the codec of a refusal's reason, which is one of `reasons`.
    fileprivate static func reason(_ reasons: Reason...) -> Self {
        ValueCodec<String>.word(of: reasons.map(\.text))
            .mapped(read: { text in reasons.first { $0.text == text } }, write: { $0.text })
    }
}

extension ValueCodec<Reason?> {
    /// The value of a switch that refuses nothing.
    private static var accept: String { "accept" }

    /// Returns the codec of a refusal's reason, which is one of `reasons`. The value nil means no refusal.
    fileprivate static func refusal(_ reasons: Reason...) -> Self {
        ValueCodec<String>.word(of: reasons.map(\.text) + [accept])
            .mapped(
                read: { text in .some(reasons.first { $0.text == text }) }, write: { $0?.text ?? accept })
    }
}
