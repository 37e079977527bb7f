import CommandKit
import DeadLetters
import EventLoop
import Glibc
import Text

/// The output of complete dead letters. Without `--json`, repeated dead letters are only counted.
struct DeadLetterShow {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        var found: Set<String> = []
        var isWritten = true
        var repeated = RepeatedLetters()
        return await task.scanAll(on: loop) { scan in
            // Several dead letters may have the same ID.
            while isWritten, let next = await task.next(in: scan) {
                found.formUnion(next.names)
                guard task.options.isJSON || repeated.add(next.letter, body: next.copy.body) else { continue }
                let (reveals, now) = (task.options.reveals, loop.now.unixMilliseconds)
                let text =
                    task.options.isJSON
                    ? Terminal.output.jsonLine(
                        DeadLetterText.wholeJSON(next.letter, next.copy, reveals: reveals, nowUnixMilliseconds: now))
                    : DeadLetterText.whole(next.letter, next.copy, reveals: reveals, nowUnixMilliseconds: now)
                var bytes = Array(text.utf8)
                isWritten = await FileWriter.write(&bytes, to: STDOUT_FILENO, on: loop, unless: { scan.isCutShort })
            }
        } completion: { totals, code in
            if isWritten { isWritten = repeated.lines.allSatisfy { Terminal.output.line($0.printable) } }
            guard isWritten, code == .success else { return code == .success ? .failed : code }
            return task.reportMissing(found, of: totals.seen, isComplete: totals.isComplete) ? .failed : .success
        }
    }
}
