import EventLoop

/// A limit on printed lines: at most ``linesMax`` lines in ``seconds`` seconds. If lines were omitted, a summary line
/// with their number follows.
struct LineLimit {
    static let linesMax = 20
    static let seconds: Int64 = 10

    private var began: MonotonicTime?
    private var lines = 0

    /// Returns the lines to print: a summary if one is due, and `line` unless the limit is reached.
    mutating func lines(for line: String, now: MonotonicTime) -> [String] {
        if let began, now < began + .seconds(Self.seconds) {
            lines += 1
            return lines <= Self.linesMax ? [line] : []
        }
        defer { (began, lines) = (now, 1) }
        return summary(now: now) + [line]
    }

    /// The time at which the summary is due if no other line follows; nil if no line was omitted.
    var due: MonotonicTime? { lines > Self.linesMax ? began.map { $0 + .seconds(Self.seconds) } : nil }

    /// Returns the summary of omitted lines if the summary is due. Otherwise, returns an empty array.
    mutating func summary(now: MonotonicTime) -> [String] {
        guard let due, due <= now else { return [] }
        defer { (began, lines) = (nil, 0) }
        return ["\(lines - Self.linesMax) more lines omitted"]
    }
}
