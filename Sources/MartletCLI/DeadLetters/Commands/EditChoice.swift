import Configuration
import DeadLetters

/// The choice of the dead letter to edit. Several dead letters may have the same ID.
struct EditChoice {
    private(set) var first: FoundMessage?
    /// Number of dead letters that differ from the first.
    private var others = 0
    /// The time of the newest failure, in UNIX milliseconds.
    private var newestFailedAt: Int64?

    mutating func add(_ found: FoundMessage) {
        newestFailedAt = [newestFailedAt, found.letter.failedAt].compactMap(\.self).max()
        guard let first else {
            first = found
            return
        }
        // Identical dead letters are interchangeable.
        if DeadLetterMark(first.letter) != DeadLetterMark(found.letter) || first.copy.body != found.copy.body {
            others += 1
        }
    }

    /// Returns a remedy for an ambiguous choice; nil if the choice is unambiguous.
    func advice(_ options: DeadLetterOptions, _ commands: CommandAdvice) -> String? {
        guard others > 0 else { return nil }
        let newest = newestFailedAt.map { failedAt in
            var options = options
            options.filter = (options.filter.map { "(\($0)) && " } ?? "") + "failed_at == \(failedAt)"
            return "; for the newest, run: \(options.command(commands))"
        }
        let id = DeadLetterText.operand(options.ids[0])
        return "several dead letters have the ID \(id): choose a dead letter with --where" + (newest ?? "")
    }
}
