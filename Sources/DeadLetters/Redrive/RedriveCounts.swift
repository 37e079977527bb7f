import JSON

/// What became of the dead letters that were chosen, counted.
package struct RedriveCounts: Equatable, Sendable {
    package var seen = 0
    /// Published, confirmed and taken away; in a dry run, those that would be.
    package var redriven = 0
    /// A worker would refuse them again; they stay.
    package private(set) var invalid = 0
    /// The same by class and code of the refusal.
    package private(set) var refusals: [String: Int] = [:]
    /// The id of one that can be corrected.
    package private(set) var firstRefused: String?
    /// Not published; they stay.
    package var failed = 0
    /// Published without an answer from the broker; they stay.
    package var unknown = 0
    /// Published and confirmed, and still there.
    package var left = 0
    /// No queue is bound for them; they are in the queue for unrouted results.
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

    /// Reasons that a line for people names.
    private static let reasonsMax = 5

    /// - Parameters:
    ///   - reason: class and code, as a dead letter has them.
    ///   - id: nil where the body cannot be edited.
    package mutating func refuse(_ reason: String, _ id: String?) {
        invalid += 1
        firstRefused = firstRefused ?? id
        refusals[reason, default: 0] += 1
    }

    /// The most frequent first.
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
        if invalid > 0 { parts.append("would fail again \(invalid), which stay (\(reasonsText))") }
        if failed > 0 { parts.append("not published \(failed), which stay") }
        if unknown > 0 { parts.append("perhaps published \(unknown), which stay: run it again") }
        if unroutable > 0 { parts.append("without a queue \(unroutable), which stay") }
        if left > 0 { parts.append("published and not taken away \(left): run it again") }
        return parts.joined(separator: ", ") + "; looked at \(seen)"
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
