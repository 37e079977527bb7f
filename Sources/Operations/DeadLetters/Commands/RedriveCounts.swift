import JSON

/// What became of the dead letters that were chosen, counted.
struct RedriveCounts: Equatable, Sendable {
    var seen = 0
    /// Published, confirmed and taken away; in a dry run, those that would be.
    var redriven = 0
    /// Broken as before; they stay.
    var invalid = 0
    /// Not published; they stay.
    var failed = 0
    /// Published without an answer from the broker; they stay.
    var unknown = 0
    /// Published and confirmed, and still there.
    var left = 0

    var chosen: Int { redriven + invalid + failed + unknown + left }
    var areSomeAmiss: Bool { chosen > redriven }

    func line(isDryRun: Bool, verb: String = "redriven") -> String {
        var parts = ["\(isDryRun ? "would be " : "")\(verb) \(redriven)"]
        if invalid > 0 { parts.append("invalid \(invalid), which stay (martlet dead-letters edit ID)") }
        if failed > 0 { parts.append("not published \(failed), which stay") }
        if unknown > 0 { parts.append("perhaps published \(unknown), which stay: run it again") }
        if left > 0 { parts.append("published and not taken away \(left): run it again") }
        return parts.joined(separator: ", ") + "; looked at \(seen)"
    }

    func json(isDryRun: Bool) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("event", "summary")
        json.member("dry_run", isDryRun)
        json.member("seen", seen)
        json.member("chosen", chosen)
        json.member("redriven", redriven)
        json.member("invalid", invalid)
        json.member("failed", failed)
        json.member("unknown", unknown)
        json.member("left", left)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
