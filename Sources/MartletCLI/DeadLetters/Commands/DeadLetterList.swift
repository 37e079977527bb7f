import CommandKit
import DeadLetters
import EventLoop
import Text

/// The list of dead letters, one line each.
struct DeadLetterList {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        let limit = task.options.limit ?? DeadLetterOptions.listedDefault
        var letters: [DeadLetter] = []
        return await task.scanAll(on: loop) { scan in
            while letters.count < limit, let found = await task.next(in: scan) { letters.append(found.letter) }
        } completion: { totals, code in
            let now = loop.now.unixMilliseconds
            guard show(letters, nowUnixMilliseconds: now) else { return .failed }
            if letters.count == limit, totals.seen < totals.total, !task.options.isJSON {
                Terminal.error.line(
                    "martlet: showing the first \(limit) matches of \(totals.total) dead letters; for more, pass --limit N"
                )
            }
            return code
        }
    }

    /// Prints dead letters. Returns false if the output fails.
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
