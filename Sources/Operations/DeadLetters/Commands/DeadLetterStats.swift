import EventLoop
import JSON

/// Counts dead letters by what they have in common.
struct DeadLetterStats {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        let interruption = Interruption(on: loop)
        defer { interruption.end() }
        let scan = task.scan(on: loop, interruption)
        if let failure = await task.open(scan) { return failure }
        var groups = DeadLetterGroups(by: task.options.groupedBy)
        while let found = await task.next(in: scan, nowUnixMilliseconds: { loop.now.unixMilliseconds }) {
            groups.add(found.letter, nowUnixMilliseconds: loop.now.unixMilliseconds)
        }
        let code = task.end(of: scan)
        await scan.close()
        let isWritten =
            task.options.isJSON
            ? DeadLetterText.json(groups).allSatisfy { Terminal.output.line($0) }
            : Terminal.output.write(DeadLetterText.table(groups, of: scan.seen, in: scan.queue))
        return isWritten ? code : .failed
    }
}
