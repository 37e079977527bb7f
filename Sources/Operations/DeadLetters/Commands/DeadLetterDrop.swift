import EventLoop

/// Takes dead letters out of their queue, once they are safe in a file.
struct DeadLetterDrop {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        guard task.options.file != "-" else {
            Terminal.error.line("martlet: --export of what is dropped is a file, not standard output")
            return .usage
        }
        guard task.options.saysYes || Question.canBeAsked else {
            Terminal.error.line("martlet: nobody is here to be asked: say --yes")
            return .usage
        }
        let interruption = Interruption(on: loop)
        defer { interruption.end() }
        let scan = task.scan(on: loop, interruption)
        if let failure = await task.open(scan) { return failure }
        let code = await drop(scan, loop, interruption)
        await scan.close()
        return code
    }

    private func drop(
        _ scan: DeadLetterScan, _ loop: EpollLoop, _ interruption: Interruption
    ) async -> ExitCode {
        guard let written = await DeadLetterExport(task).write(scan, loop) else { return .failed }
        let (count, file) = (written.tags.count, task.options.file)
        switch scan.end {
        case nil, .complete, .enough, .windowFull: break
        // What was interrupted drops nothing: the file may be thrown away.
        case .tooLong, .interrupted, .lost, .worn: return task.end(of: scan)
        }
        let isMissing = task.tellMissing(written.names)
        if count > 0, !task.options.saysYes {
            let question = "\(count) dead letters are in \(file). Drop them from \(scan.queue)?"
            guard let answer = await Question.ask(question, fallback: false, on: loop, interruption) else {
                return task.end(of: scan)
            }
            guard answer else { return .failed }
        }
        let held = written.tags.filter { scan.holds($0) }
        for tag in held { scan.acknowledge(tag) }
        if task.options.isJSON {
            Terminal.output.line(#"{"event":"summary","dropped":\#(held.count)}"#)
        } else {
            Terminal.output.line("dropped \(held.count) of \(scan.seen); they are in \(file)".printable)
        }
        let code = held.count == count ? task.end(of: scan) : .unreachable
        return code == .success && (isMissing || written.oversized > 0) ? .failed : code
    }
}
