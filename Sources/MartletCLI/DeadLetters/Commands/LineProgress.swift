/// Up to which line of a file everything is done, of which several are on their way at once.
struct LineProgress: Equatable, Sendable {
    /// This line is done, and so are all before it.
    private(set) var last: Int
    /// Done, behind one that is not.
    private var beyond: Set<Int> = []
    /// The first that will not be done.
    private var gap = Int.max

    init(after line: Int) { last = line }

    /// Whether one was left out.
    var hasGap: Bool { gap < .max }

    mutating func finish(_ line: Int) {
        guard line < gap else { return }
        beyond.insert(line)
        while beyond.remove(last + 1) != nil { last += 1 }
    }

    /// It stays undone: nothing behind it counts any more.
    mutating func leave(_ line: Int) {
        gap = min(gap, line)
        beyond = beyond.filter { $0 < gap }
    }
}
