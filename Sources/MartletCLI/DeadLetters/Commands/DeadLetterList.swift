import CommandKit
import DeadLetters
import EventLoop
import Text

/// Shows dead letters, a line for each.
struct DeadLetterList {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        let limit = task.options.limit ?? DeadLetterOptions.listedDefault
        var letters: [DeadLetter] = []
        return await task.look(on: loop) { scan in
            while letters.count < limit, let found = await task.next(in: scan) { letters.append(found.letter) }
        } conclusion: { looked, code in
            let now = loop.now.unixMilliseconds
            guard show(letters, nowUnixMilliseconds: now) else { return .failed }
            if letters.count == limit, looked.seen < looked.total, !task.options.isJSON {
                Terminal.error.line(
                    "martlet: the first \(limit) of those chosen among \(looked.total); more with --limit")
            }
            return code
        }
    }

    /// False when nobody reads it.
    private func show(_ letters: [DeadLetter], nowUnixMilliseconds: Int64) -> Bool {
        let reveals = task.options.reveals
        guard task.options.isJSON else {
            return Terminal.output.write(
                DeadLetterText.table(
                    letters, reveals: reveals, nowUnixMilliseconds: nowUnixMilliseconds,
                    width: Terminal.output.window?.columns))
        }
        return letters.allSatisfy {
            Terminal.output.json(
                DeadLetterText.json($0, reveals: reveals, nowUnixMilliseconds: nowUnixMilliseconds))
        }
    }
}
