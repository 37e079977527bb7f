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
        let left = max(0, lines - Self.linesMax)
        (began, lines) = (now, 1)
        return (left > 0 ? ["\(left) more lines like these were left out"] : []) + [line]
    }
}
