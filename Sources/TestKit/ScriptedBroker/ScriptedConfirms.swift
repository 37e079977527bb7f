/// The unconfirmed publishes of a channel.
///
/// Confirms are sent one by one, or combined with `multiple` if no earlier publish is undecided.
struct ScriptedConfirms {
    struct Confirm: Equatable {
        var sequence: UInt64
        var multiple: Bool
        var positive: Bool
    }

    private var next: UInt64 = 1
    /// The unconfirmed sequence numbers, oldest first.
    private var open: [UInt64] = []
    private var decided: [(sequence: UInt64, positive: Bool)] = []

    /// Adds a publish and returns its sequence number.
    mutating func add() -> UInt64 {
        defer { next += 1 }
        open.append(next)
        return next
    }

    mutating func decide(_ sequence: UInt64, positive: Bool) {
        decided.append((sequence, positive))
    }

    mutating func takeConfirms(mayJoin: () -> Bool) -> [Confirm] {
        guard !decided.isEmpty else { return [] }
        decided.sort { $0.sequence < $1.sequence }
        var confirms: [Confirm] = []
        var rest = decided[...]
        decided = []
        // Consecutive positive confirms can be combined if they start with the oldest unconfirmed publish.
        var joined = 0
        while joined < rest.count, joined < open.count,
            rest[rest.startIndex + joined].sequence == open[joined], rest[rest.startIndex + joined].positive
        {
            joined += 1
        }
        if joined > 1, mayJoin() {
            confirms.append(Confirm(sequence: open[joined - 1], multiple: true, positive: true))
            open.removeFirst(joined)
            rest = rest.dropFirst(joined)
        }
        for item in rest {
            confirms.append(Confirm(sequence: item.sequence, multiple: false, positive: item.positive))
            open.removeAll { $0 == item.sequence }
        }
        return confirms
    }
}
