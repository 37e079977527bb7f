import EventLoop

/// Shows dead letters, a line for each.
struct DeadLetterList {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        let interruption = Interruption(on: loop)
        defer { interruption.end() }
        let limit = task.options.limit ?? DeadLetterOptions.listedDefault
        let scan = task.scan(on: loop, interruption)
        if let failure = await task.open(scan) { return failure }
        var letters: [DeadLetter] = []
        while letters.count < limit,
            let found = await task.next(in: scan, nowUnixMilliseconds: { loop.now.unixMilliseconds })
        {
            letters.append(found.letter)
        }
        let isCut = letters.count == limit && scan.seen < scan.total
        let code = task.end(of: scan)
        await scan.close()
        let now = loop.now.unixMilliseconds
        if task.options.isJSON {
            for letter in letters {
                let line = DeadLetterText.json(letter, reveals: task.options.reveals, nowUnixMilliseconds: now)
                guard Terminal.output.json(line) else { return .failed }
            }
            return code
        }
        guard
            Terminal.output.write(
                DeadLetterText.table(letters, reveals: task.options.reveals, nowUnixMilliseconds: now))
        else { return .failed }
        if isCut {
            Terminal.error.line(
                "martlet: the first \(letters.count) of those chosen among \(scan.total); more with --limit")
        }
        return code
    }
}
