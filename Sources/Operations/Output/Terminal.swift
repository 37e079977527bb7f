import CLinux
import Glibc
import Synchronization
import Text

/// Standard output and standard error of a command (a worker's log goes through Telemetry instead).
struct Terminal: Sendable {
    private let descriptor: Int32
    /// Whether colours are shown: a person's terminal, and `NO_COLOR` is not set (https://no-color.org).
    let hasColors: Bool

    static let output = Terminal(STDOUT_FILENO)
    static let error = Terminal(STDERR_FILENO)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        let isDumb = Environment.value("TERM") == "dumb"
        hasColors = isatty(descriptor) == 1 && !isDumb && (Environment.value("NO_COLOR") ?? "").isEmpty
    }

    /// Whether a person may be looking.
    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// What a person sees at once.
    struct Window: Equatable {
        var columns: Int
        var rows: Int
    }

    /// nil if this is no terminal, or the terminal does not report its size.
    var window: Window? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return Window(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Characters in a line of the terminal; of what is no terminal, or does not say, what a wide one has.
    var width: Int { window?.columns ?? 150 }

    /// Writes all of the line, waiting for a slow reader.
    /// - Returns: false when nobody reads it any more (`martlet watch | head`).
    @discardableResult
    func line(_ text: String) -> Bool { write(text + "\n") }

    /// A line of JSON, which may hold any text of others: nothing in it steers a terminal.
    @discardableResult
    func json(_ text: String) -> Bool { write(jsonLine(text)) }

    func jsonLine(_ text: String) -> String { (isTerminal ? text.printable : text) + "\n" }

    @discardableResult
    func write(_ text: String) -> Bool {
        if Self.hasPassingLine.load(ordering: .relaxed), isTerminal { Self.endPassingLine() }
        return writeAll(text)
    }

    /// A line on a person's terminal that whatever is written next takes the place of.
    func passing(_ text: String) {
        writeAll("\r\(text)\u{1B}[K")
        Self.hasPassingLine.store(true, ordering: .relaxed)
    }

    static func endPassingLine() {
        if hasPassingLine.exchange(false, ordering: .relaxed) { error.writeAll("\r\u{1B}[K") }
    }

    private static let hasPassingLine = Atomic(false)

    @discardableResult
    private func writeAll(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { FileWriter.write(UnsafeRawBufferPointer($0), to: descriptor) }
    }
}
