import CommandKit
import Text

/// The first few of many error lines. Omits later lines.
struct FirstLines {
    private static let linesMax = 3

    private var count = 0

    mutating func report(_ text: String) {
        guard count < Self.linesMax else { return }
        count += 1
        Terminal.error.line("martlet: \(text)".printable)
        if count == Self.linesMax { Terminal.error.line("martlet: further errors are only counted") }
    }
}
