/// The progress through a file whose lines complete out of order.
struct LineProgress: Equatable, Sendable {
    /// The last completed line that no incomplete line precedes.
    private(set) var last: Int
    /// Completed lines after an incomplete line.
    private var beyond: Set<Int> = []
    /// The first line that failed; `Int.max` if none.
    private var gap = Int.max

    init(after line: Int) { last = line }

    /// Whether a line failed.
    var hasGap: Bool { gap < .max }

    mutating func finish(_ line: Int) {
        guard line < gap else { return }
        beyond.insert(line)
        while beyond.remove(last + 1) != nil { last += 1 }
    }

    /// Marks a line as failed. Later lines no longer count.
    mutating func leave(_ line: Int) {
        gap = min(gap, line)
        beyond = beyond.filter { $0 < gap }
    }
}
