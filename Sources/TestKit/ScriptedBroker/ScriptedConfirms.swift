/// The publishes of a channel that have not been confirmed, and how what is decided is told: by itself, or many at once
/// when none before them is open.
struct ScriptedConfirms {
    struct Confirm: Equatable {
        var sequence: UInt64
        var multiple: Bool
        var positive: Bool
    }

    private var next: UInt64 = 1
    /// Unconfirmed, oldest first.
    private var open: [UInt64] = []
    private var decided: [(sequence: UInt64, positive: Bool)] = []

    /// Notes a publish and returns its number.
    mutating func add() -> UInt64 {
        defer { next += 1 }
        open.append(next)
        return next
    }

    mutating func decide(_ sequence: UInt64, positive: Bool) {
        decided.append((sequence, positive))
    }

    mutating func take(mayJoin: () -> Bool) -> [Confirm] {
        guard !decided.isEmpty else { return [] }
        decided.sort { $0.sequence < $1.sequence }
        var confirms: [Confirm] = []
        var rest = decided[...]
        decided = []
        // Those from the oldest on, without a gap and all positive, may be told as one.
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
