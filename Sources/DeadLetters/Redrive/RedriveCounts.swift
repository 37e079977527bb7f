import JSON

/// The number of messages read, and counts of the chosen messages by outcome.
package struct RedriveCounts: Equatable, Sendable {
    package var seen = 0
    /// Messages that were published, confirmed and removed. In a dry run, messages that would be redriven.
    package var redriven = 0
    /// Messages that stay in the queue, because they are too large or a worker would refuse them again.
    package private(set) var invalid = 0
    /// The counts of `invalid` by class and code of the refusal.
    package private(set) var refusals: [String: Int] = [:]
    /// The id of the first refused message that can be edited.
    package private(set) var firstRefused: String?
    /// Messages that stay in the queue and were not published.
    package var failed = 0
    /// Messages that stay in the queue and were published, but not confirmed.
    package var unknown = 0
    /// Messages that were published and confirmed, but are still in the queue.
    package var left = 0
    /// Results that are still in the queue for unrouted results, because no other queue is bound.
    package var unroutable = 0

    package init(
        seen: Int = 0, redriven: Int = 0, invalid: Int = 0, refusals: [String: Int] = [:], firstRefused: String? = nil,
        failed: Int = 0, unknown: Int = 0, left: Int = 0, unroutable: Int = 0
    ) {
        self.seen = seen
        self.redriven = redriven
        self.invalid = invalid
        self.refusals = refusals
        self.firstRefused = firstRefused
        self.failed = failed
        self.unknown = unknown
        self.left = left
        self.unroutable = unroutable
    }

    package var chosen: Int { redriven + invalid + failed + unknown + left + unroutable }
    package var areSomeAmiss: Bool { chosen > redriven }

    /// Maximum number of reasons in the text.
    private static let reasonsMax = 5

    /// Counts a message that a worker would refuse again.
    ///
    /// - Parameters:
    ///   - reason: class and code of the refusal.
    ///   - id: nil if the body cannot be edited.
    package mutating func refuse(_ reason: String, _ id: String?) {
        invalid += 1
        firstRefused = firstRefused ?? id
        refusals[reason, default: 0] += 1
    }

    /// The reasons, the most frequent first.
    private var reasons: [(key: String, value: Int)] {
        refusals.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
    }

    private var reasonsText: String {
        let named = reasons.prefix(Self.reasonsMax)
        let others = invalid - named.reduce(0) { $0 + $1.value }
        let texts = named.map { "\($0.key) \($0.value)" } + (others > 0 ? ["others \(others)"] : [])
        return texts.joined(separator: ", ")
    }

    package func line(isDryRun: Bool, verb: String = MessageSource.deadLetters.resent) -> String {
        var parts = ["\(isDryRun ? "would be " : "")\(verb) \(redriven)"]
        if invalid > 0 { parts.append("would fail again \(invalid), kept in the queue (\(reasonsText))") }
        if failed > 0 { parts.append("not published \(failed), kept in the queue") }
        if unknown > 0 { parts.append("possibly published \(unknown), kept in the queue: run the command again") }
        if unroutable > 0 { parts.append("no bound queue \(unroutable), kept in the queue") }
        if left > 0 { parts.append("published but not removed \(left): run the command again") }
        return parts.joined(separator: ", ") + "; messages read: \(seen)"
    }

    package func json(isDryRun: Bool, _ source: MessageSource = .deadLetters) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("event", "summary")
        json.member("dry_run", isDryRun)
        json.member("seen", seen)
        json.member("chosen", chosen)
        json.key(source.resent.replacing(" ", with: "_"))
        json.int(Int64(redriven))
        json.member("invalid", invalid)
        if invalid > 0 {
            json.beginObject("would_fail_again")
            for (reason, count) in reasons {
                json.key(reason)
                json.int(Int64(count))
            }
            json.endObject()
        }
        json.member("failed", failed)
        json.member("unknown", unknown)
        json.member("left", left)
        if source == .unrouted { json.member("unroutable", unroutable) }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
