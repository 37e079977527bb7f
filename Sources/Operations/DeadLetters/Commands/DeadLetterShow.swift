import EventLoop

/// Shows all of some dead letters.
struct DeadLetterShow {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        let interruption = Interruption(on: loop)
        defer { interruption.end() }
        let scan = task.scan(on: loop, interruption)
        if let failure = await task.open(scan) { return failure }
        var found: Set<String> = []
        var isWritten = true
        // One may have several dead letters.
        while isWritten,
            let next = await task.next(in: scan, nowUnixMilliseconds: { loop.now.unixMilliseconds })
        {
            found.formUnion(next.names)
            let (reveals, now) = (task.options.reveals, loop.now.unixMilliseconds)
            isWritten =
                task.options.isJSON
                ? Terminal.output.json(
                    DeadLetterText.wholeJSON(next.letter, next.copy, reveals: reveals, nowUnixMilliseconds: now))
                : Terminal.output.write(
                    DeadLetterText.whole(next.letter, next.copy, reveals: reveals, nowUnixMilliseconds: now))
        }
        let code = task.end(of: scan)
        await scan.close()
        guard isWritten else { return .failed }
        guard code == .success else { return code }
        return task.tellMissing(found) ? .failed : .success
    }
}
