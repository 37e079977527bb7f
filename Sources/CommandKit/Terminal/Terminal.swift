import Glibc
import Synchronization
import Text

/// Standard output or standard error of a command.
package struct Terminal: Sendable {
    private let descriptor: Int32
    /// Whether colors are enabled: on a terminal other than `dumb`, unless `NO_COLOR` has a nonempty value
    /// (https://no-color.org).
    package let hasColors: Bool

    package static let output = Terminal(STDOUT_FILENO)
    package static let error = Terminal(STDERR_FILENO)

    package init(_ descriptor: Int32) {
        self.descriptor = descriptor
        let isDumb = Self.variable("TERM") == "dumb"
        hasColors = isatty(descriptor) == 1 && !isDumb && (Self.variable("NO_COLOR") ?? "").isEmpty
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Size of a terminal in characters.
    package struct Window: Equatable {
        package var columns: Int
        package var rows: Int

        package init(columns: Int, rows: Int) {
            self.columns = columns
            self.rows = rows
        }
    }

    /// The size of the terminal; nil if the output is not a terminal or the size is unknown.
    package var window: Window? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return Window(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// The width of the terminal in columns; 150 if the size is unknown.
    package var width: Int { window?.columns ?? 150 }

    /// Writes a line. Blocks while the reader is slow.
    ///
    /// - Returns: false if the write fails, for example because the reader has exited (`martlet watch | head`).
    @discardableResult
    package func line(_ text: String) -> Bool { write(text + "\n") }

    /// Writes a line of JSON. On a terminal, replaces control characters, because the text may quote untrusted
    /// input.
    @discardableResult
    package func json(_ text: String) -> Bool { write(jsonLine(text)) }

    package func jsonLine(_ text: String) -> String { (isTerminal ? text.printable : text) + "\n" }

    @discardableResult
    package func write(_ text: String) -> Bool {
        if Self.hasPassingLine.load(ordering: .relaxed), isTerminal { Self.endPassingLine() }
        return writeAll(text)
    }

    /// Writes a line that the next output to a terminal replaces. The output must be a terminal.
    package func passing(_ text: String) {
        writeAll("\r\(text)\u{1B}[K")
        Self.hasPassingLine.store(true, ordering: .relaxed)
    }

    package static func endPassingLine() {
        if hasPassingLine.exchange(false, ordering: .relaxed) { error.writeAll("\r\u{1B}[K") }
    }

    private static let hasPassingLine = Atomic(false)

    @discardableResult
    private func writeAll(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { FileWriter.write(UnsafeRawBufferPointer($0), to: descriptor) }
    }
}
