import EventLoop
import Glibc

/// Asks a person at a terminal.
enum Question {
    /// Whether somebody is there to answer.
    static var canBeAsked: Bool { isatty(STDIN_FILENO) == 1 && Terminal.error.isTerminal }

    /// Waits for the answer on a thread of its own, so that connections live on meanwhile.
    ///
    /// - Parameter fallback: what an empty line means.
    static func ask(_ text: String, fallback: Bool) async -> Bool {
        Terminal.error.write("\(text.printable) [\(fallback ? "Y/n" : "y/N")] ")
        let answer = await DetachedThread.run { readLine() ?? "n" }
        return answer.isEmpty ? fallback : answer.lowercased().hasPrefix("y")
    }
}
