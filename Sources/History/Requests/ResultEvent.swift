import ControlProtocol
import JSON

/// An entry of a result's member `history`: an earlier round of the request, or several equal rounds.
package struct ResultEvent: Sendable, Hashable {
    package static let eventsMax = 16

    /// The time, in UNIX milliseconds.
    package var at: Int64
    /// The kind of event, such as `attempt` or `hold`.
    package var event: String
    package var code: String?
    /// The number of equal neighbors that the entry represents.
    package var rounds: Int?
    /// The end of the last wait, in UNIX milliseconds.
    package var until: Int64?

    package init(at: Int64, event: String, code: String? = nil, rounds: Int? = nil, until: Int64? = nil) {
        self.at = at
        self.event = event
        self.code = code
        self.rounds = rounds
        self.until = until
    }

    /// Reads an entry; nil if it is malformed.
    init?(_ json: JSONValue) {
        guard let at = json["at"]?.time, let event = json["event"]?.text(JournalLimits.codeBytesMax) else { return nil }
        self.init(
            at: at, event: event, code: json["code"]?.text(JournalLimits.codeBytesMax),
            rounds: json["rounds"]?.count(), until: json["until"]?.time)
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("at", at)
        json.member("event", event)
        if let code { json.member("code", code) }
        if let rounds { json.member("rounds", rounds) }
        if let until { json.member("until", until) }
        json.endObject()
    }
}

extension JSONValue {
    /// A time in UNIX milliseconds; nil for other values.
    var time: Int64? { int64.flatMap { FleetLimits.times.contains($0) ? $0 : nil } }

    /// A text of at most `bytesMax` bytes; nil for other values.
    func text(_ bytesMax: Int) -> String? {
        guard kind == .string, sourceRange.count <= 6 * bytesMax + 2 else { return nil }
        return string.flatMap { $0.utf8.count <= bytesMax ? $0 : nil }
    }

    /// A whole number from 0 to `maximum`; nil for other values.
    func count(_ maximum: Int = JournalLimits.attemptsMax) -> Int? {
        int.flatMap { (0...maximum).contains($0) ? $0 : nil }
    }
}
