import CommandKit
import DeadLetters
import EventLoop
import Glibc
import Text

/// A question on a terminal. During `ask`, the loop keeps running, so connections stay open.
final class ConfirmationPrompt {
    /// Whether a terminal can show a question and read the answer.
    static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && Terminal.error.isTerminal }

    private var continuation: UnsafeContinuation<String?, Never>?
    private var watch: DescriptorWatch?

    /// Asks a question and waits for the answer.
    ///
    /// - Parameter fallback: the answer for an empty line.
    /// - Returns: the answer; nil after an interruption.
    static func ask(_ text: String, fallback: Bool, on loop: EpollLoop, _ interruption: Interruption) async -> Bool? {
        guard interruption.code == nil else { return nil }
        Terminal.error.write("\(text.printable) [\(fallback ? "Y/n" : "y/N")] ")
        guard let answer = await ConfirmationPrompt().line(on: loop, interruption) else {
            Terminal.error.line("")
            return nil
        }
        return answer.isEmpty ? fallback : answer.lowercased().hasPrefix("y")
    }

    /// Asks a question without a loop. An interruption terminates the process. An empty line means no.
    static func confirmImmediately(_ text: String) -> Bool {
        Terminal.error.write("\(text.printable) [y/N] ")
        return readLine()?.lowercased().hasPrefix("y") ?? false
    }

    private func line(on loop: EpollLoop, _ interruption: Interruption) async -> String? {
        let end = InterruptionEnd(self)
        interruption.add(end)
        defer { interruption.remove(end) }
        return await withUnsafeContinuation {
            continuation = $0
            watch = DescriptorWatch(
                loop: loop, descriptor: STDIN_FILENO, for: .readable,
                // A terminal delivers whole lines. End of input means no.
                action: { [self] in finish(readLine() ?? "n") }, abandoned: { [self] in finish(nil) })
            if watch == nil { finish("n") }
        }
    }

    private final class InterruptionEnd: InterruptionHandler {
        private let prompt: ConfirmationPrompt

        init(_ prompt: ConfirmationPrompt) { self.prompt = prompt }

        override func interrupted(_ signal: Interruption.Signal) { prompt.finish(nil) }
    }

    private func finish(_ answer: String?) {
        watch?.end()
        watch = nil
        continuation?.resume(returning: answer)
        continuation = nil
    }
}
