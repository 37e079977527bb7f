import DeadLetters

/// Dead letters that say the same as one that was shown: only counted.
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

    /// - Returns: whether it is the first of its kind.
    mutating func add(_ letter: DeadLetter, body: [UInt8]) -> Bool {
        let likeness = Likeness(
            id: letter.id, failureClass: letter.failureClass, code: letter.code, path: letter.path,
            outcome: letter.outcome, bodyHash: body.hashValue)
        counts[likeness, default: 0] += 1
        guard counts[likeness] == 1 else { return false }
        order.append(likeness)
        return true
    }

    /// For people: a line for each kind of which there is more than was shown.
    var lines: [String] {
        order.compactMap { likeness in
            guard let count = counts[likeness], count > 1 else { return nil }
            let id = DeadLetterText.shown(likeness.id, reveals: false)
            return "and \(count - 1) more of \(id) (\(likeness.failureClass) \(likeness.code)) with the same body; "
                + "--json prints all"
        }
    }
}
