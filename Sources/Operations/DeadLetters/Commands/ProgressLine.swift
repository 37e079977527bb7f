import EventLoop

/// A bar on a person's terminal while something takes its time; nothing elsewhere.
final class ProgressLine {
    private static let intervalMilliseconds = 200
    private static let cells = 24

    private let loop: EventLoop
    private let total: Int
    private let begin: MonotonicTime
    private var timer: TimerToken?
    private var isShown = false

    /// - Parameter count: how many are done, asked for now and then.
    init(on loop: EventLoop, total: Int, _ count: @escaping () -> Int) {
        self.loop = loop
        self.total = total
        begin = loop.now.monotonic
        if Terminal.error.isTerminal { schedule(count) }
    }

    private func schedule(_ count: @escaping () -> Int) {
        timer = loop.schedule(after: .milliseconds(Self.intervalMilliseconds)) { [self] in
            let elapsed = begin.duration(to: loop.now.monotonic)
            Terminal.error.write("\r" + Self.text(count(), of: total, after: elapsed) + "\u{1B}[K")
            isShown = true
            schedule(count)
        }
    }

    func end() {
        if let timer { loop.cancel(timer) }
        timer = nil
        if isShown { Terminal.error.write("\r\u{1B}[K") }
        isShown = false
    }

    /// `━━━━────────  1200 of 5000  498/s`
    static func text(_ count: Int, of total: Int, after elapsed: Duration) -> String {
        let filled = total > 0 ? min(cells, cells * count / total) : cells
        let milliseconds = max(1, elapsed / .milliseconds(1))
        let rate = Int(Double(count) * 1000 / milliseconds)
        let bar = String(repeating: "━", count: filled) + String(repeating: "─", count: cells - filled)
        return "\(bar)  \(count) of \(total)  \(rate)/s"
    }
}
