import CommandKit
import History
import JSON
import Text

/// The output of `martlet trace`.
struct TraceText {
    let trace: JournalTrace
    /// UNIX milliseconds.
    let now: Int64

    /// Prints the steps, or the gaps that may hide them. Returns whether the output was written.
    func print() -> Bool {
        guard !trace.lines.isEmpty else {
            for line in missing { Terminal.error.line(line) }
            return true
        }
        return Terminal.output.write(lines.map { $0 + "\n" }.joined())
    }

    /// Prints one object for each step, or each gap. Returns whether the output was written.
    func printJSON() -> Bool {
        let objects = trace.lines.isEmpty ? trace.allGaps(at: now).map(Self.json) : trace.steps.map(Self.json)
        return objects.allSatisfy { Terminal.output.json($0) }
    }

    /// The steps as lines of text.
    var lines: [String] {
        let first = trace.lines.last
        let subject = ["\(trace.id)", first?.app].compactMap { $0 }.joined(separator: "  ")
        return [subject.printable] + trace.steps.map { line($0).printable }
    }

    private func line(_ step: RequestStep) -> String {
        var parts = [Self.time(step.at), step.event.rawValue.padded(to: 9), step.text]
        if let rounds = step.rounds { parts.append("\(rounds) times") }
        if let until = step.until { parts.append("until \(Self.time(until))") }
        parts += [step.queue, step.worker].compactMap { $0 }
        return parts.joined(separator: "  ")
    }

    /// The sentences for a request without steps.
    var missing: [String] {
        let gaps = trace.allGaps(at: now)
        let read = trace.times.map { "from \(Self.time($0.lowerBound)) to \(Self.time($0.upperBound))" }
        let first =
            "martlet: the journal has no step of \(trace.id)" + (read.map { " \($0)" } ?? ": no batch was found")
        return [first] + gaps.map { "martlet: \($0.sentence(Self.time))".printable }
    }

    private static func json(_ step: RequestStep) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("at", step.at)
        json.member("event", step.event.rawValue)
        if let code = step.code { json.member("code", code) }
        json.member("text", step.text)
        if let queue = step.queue { json.member("queue", queue) }
        if let worker = step.worker { json.member("worker", worker) }
        if let until = step.until { json.member("until", until) }
        if let rounds = step.rounds { json.member("rounds", rounds) }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func json(_ gap: HistoryGap) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("gap", gap.reason.rawValue)
        json.member("worker", gap.worker)
        json.member("from", gap.from)
        json.member("until", gap.until)
        if let count = gap.count { json.member("count", count) }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Returns the time of day with milliseconds, in UTC.
    static func time(_ unixMilliseconds: Int64) -> String {
        let (second, millisecond) = (unixMilliseconds / 1000, unixMilliseconds % 1000)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let digits = "\(1000 + millisecond)".dropFirst()
        return "\(two(second / 3600 % 24)):\(two(second / 60 % 60)):\(two(second % 60)).\(digits)"
    }
}
