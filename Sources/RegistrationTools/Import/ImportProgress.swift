import Text

/// The progress of an import, formatted as a line for a terminal.
package struct ImportProgress: Sendable {
    private static let cells = 24

    /// The size of the file; nil for standard input.
    private let size: Int?
    /// The numbers of bytes and lines that earlier runs completed.
    private let begin: (bytes: Int, line: Int)

    package init(size: Int?, begin: (bytes: Int, line: Int)) {
        (self.size, self.begin) = (size, begin)
    }

    /// Returns a text such as `━━━━━━━━━━━━────────────  50 %  line 500000  41000/s  12s left`.
    package func text(bytes: Int, line: Int, after elapsed: Duration) -> String {
        let seconds = max(0.001, elapsed / .seconds(1))
        let rate = "line \(line)  \(Int(Double(line - begin.line) / seconds))/s"
        guard let size else { return rate }
        let share = size > 0 ? min(1, Double(bytes) / Double(size)) : 1
        let filled = Int(Double(Self.cells) * share)
        let bar = String(repeating: "━", count: filled) + String(repeating: "─", count: Self.cells - filled)
        let done = bytes - begin.bytes
        let left =
            done > 0
            ? "  \(ElapsedTime.text(seconds: Int((seconds * Double(max(0, size - bytes)) / Double(done)).rounded(.up)))) left"
            : ""
        return "\(bar)  \(Int(share * 100)) %  \(rate)\(left)"
    }
}
