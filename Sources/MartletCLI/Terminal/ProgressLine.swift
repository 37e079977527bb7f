import CommandKit
import EventLoop

/// A progress bar on the terminal. Shows nothing if standard error is not a terminal, or if JSON lines are written to
/// a terminal.
final class ProgressLine {
    private static let intervalMilliseconds = 200
    private static let cells = 24

    private let loop: EventLoop
    private let begin: MonotonicTime
    private var timer: TimerToken?

    /// Creates a progress bar, which appears after a short delay.
    ///
    /// - Parameters:
    ///   - isJSON: whether JSON lines are written to standard output.
    ///   - count: returns the number of completed items. Called periodically.
    convenience init(on loop: EventLoop, total: Int, isJSON: Bool, _ count: @escaping () -> Int) {
        self.init(on: loop, isJSON: isJSON) { Self.text(count(), of: total, after: $0) }
    }

    /// Creates a line that shows a text.
    ///
    /// - Parameters:
    ///   - isJSON: whether JSON lines are written to standard output.
    ///   - text: returns the text for the elapsed time. Called periodically.
    init(on loop: EventLoop, isJSON: Bool, _ text: @escaping (Duration) -> String) {
        self.loop = loop
        begin = loop.now.monotonic
        if Terminal.error.isTerminal, !(isJSON && Terminal.output.isTerminal) { schedule(text) }
    }

    private func schedule(_ text: @escaping (Duration) -> String) {
        timer = loop.schedule(after: .milliseconds(Self.intervalMilliseconds)) { [self] in
            Terminal.error.passing(text(begin.duration(to: loop.now.monotonic)))
            schedule(text)
        }
    }

    func end() {
        if let timer { loop.cancel(timer) }
        timer = nil
        Terminal.endPassingLine()
    }

    /// Returns the progress as text, such as `━━━━━───────────────────  1200 of 5000  498/s`.
    static func text(_ count: Int, of total: Int, after elapsed: Duration) -> String {
        let filled = total > 0 ? min(cells, cells * count / total) : cells
        let milliseconds = max(1, elapsed / .milliseconds(1))
        let rate = Int(Double(count) * 1000 / milliseconds)
        let bar = String(repeating: "━", count: filled) + String(repeating: "─", count: cells - filled)
        return "\(bar)  \(count) of \(total)  \(rate)/s"
    }
}
