import CommandKit
import Text

/// Says the first few of many things that went wrong; further ones are only counted, by others.
struct FirstLines {
    private static let linesMax = 3

    private var count = 0

    mutating func say(_ text: String) {
        guard count < Self.linesMax else { return }
        count += 1
        Terminal.error.line("martlet: \(text)".printable)
        if count == Self.linesMax { Terminal.error.line("martlet: further ones are only counted") }
    }
}
