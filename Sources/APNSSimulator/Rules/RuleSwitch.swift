import APNSProtocol
import JSON

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
        number("streams_max", \.streamsMax, 1...4096),
        word("token_updates", \.tokenUpdates),
        flag("team_key_rotation", \.allowsTeamKeyRotation),
        limit("device_requests_per_second_max", \.requestsPerDeviceMax, 1...1_000_000),
        limit("channel_requests_per_second_max", \.requestsPerChannelMax, 1...1_000_000),
        reason("wrong_method", \.wrongMethodReason, [.methodNotAllowed, .badPath]),
        flag("broadcast_expiration_required", \.demandsBroadcastExpiration),
        reason("location_by_certificate", \.locationByCertificateReason, [.forbidden, .topicDisallowed]),
        flag("background_priority_checked", \.refusesBackgroundAtOtherPriority),
        flag("payload_form_checked", \.refusesOtherThanJSONObjects),
        number("token_future_seconds_max", \.futureTokenSecondsMax, 0...Int(Int32.max)),
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
                guard let value = members[name] else { return }
                guard let reason = reasons.first(where: { $0.text == value.string }) else {
                    let words = reasons.map(\.text)
                    throw members.error(
                        name,
                        "is \(words.joined(separator: " or "))"
                            + Spelling.suggestion(for: value.string ?? "", among: words))
                }
                rules[keyPath: place] = reason
            }, write: { rules, json in json.string(rules[keyPath: place].text) })
    }
}
