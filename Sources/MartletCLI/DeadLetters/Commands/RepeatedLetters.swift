import DeadLetters

/// Counts of repeated dead letters. A repeated dead letter has the same ID, failure and body as an earlier dead
/// letter.
struct RepeatedLetters {
    private struct Likeness: Hashable {
        var id: String
        var failureClass: String
        var code: String
        var path: String?
        var outcome: String?
        var bodyHash: Int
    }

    private var counts: [Likeness: Int] = [:]
    private var order: [Likeness] = []

    /// Counts a dead letter. Returns false if the dead letter repeats an earlier one.
    mutating func add(_ letter: DeadLetter, body: [UInt8]) -> Bool {
        let likeness = Likeness(
            id: letter.id, failureClass: letter.failureClass, code: letter.code, path: letter.path,
            outcome: letter.outcome, bodyHash: body.hashValue)
        counts[likeness, default: 0] += 1
        guard counts[likeness] == 1 else { return false }
        order.append(likeness)
        return true
    }

    /// Lines for operators, one for each dead letter that was repeated.
    var lines: [String] {
        order.compactMap { likeness in
            guard let count = counts[likeness], count > 1 else { return nil }
            let id = DeadLetterText.shown(likeness.id, reveals: false)
            return "and \(count - 1) more of \(id) (\(likeness.failureClass) \(likeness.code)) with the same body; "
                + "--json prints all"
        }
    }
}
