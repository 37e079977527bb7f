import EventLoop

/// Which of many lines are printed: so many within a while, then how many more there were.
struct LineLimit {
    static let linesMax = 20
    static let seconds: Int64 = 10

    private var began: MonotonicTime?
    private var lines = 0

    /// What to print when there is one more line.
    mutating func lines(for line: String, now: MonotonicTime) -> [String] {
        if let began, now < began + .seconds(Self.seconds) {
            lines += 1
            return lines <= Self.linesMax ? [line] : []
        }
        defer { (began, lines) = (now, 1) }
        return linesLeft(now: now) + [line]
    }

    /// When to say how many were left out, should no other line come; nil when none was.
    var due: MonotonicTime? { lines > Self.linesMax ? began.map { $0 + .seconds(Self.seconds) } : nil }

    /// What to print about those that were left out, once it is time.
    mutating func linesLeft(now: MonotonicTime) -> [String] {
        guard let due, due <= now else { return [] }
        defer { (began, lines) = (nil, 0) }
        return ["\(lines - Self.linesMax) more lines like these were left out"]
    }
}
