import CommandKit
import DeadLetters
import EventLoop
import JSON

/// The counts of dead letters in groups.
struct DeadLetterStats {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        var groups = DeadLetterGroups(by: task.options.groupedBy)
        return await task.scanAll(on: loop) { scan in
            while let found = await task.next(in: scan) {
                groups.add(found.letter, nowUnixMilliseconds: loop.now.unixMilliseconds)
            }
        } completion: { totals, code in
            let isWritten =
                task.options.isJSON
                ? DeadLetterText.json(groups).allSatisfy { Terminal.output.json($0) }
                : Terminal.output.write(
                    DeadLetterText.table(
                        groups, of: totals.seen, in: task.place, task.options.source, isComplete: code == .success))
            return isWritten ? code : .failed
        }
    }
}
