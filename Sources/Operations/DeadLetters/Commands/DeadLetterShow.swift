import EventLoop

/// Shows all of some dead letters.
struct DeadLetterShow {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        var found: Set<String> = []
        var isWritten = true
        return await task.look(on: loop) { scan in
            // One may have several dead letters.
            while isWritten, let next = await task.next(in: scan) {
                found.formUnion(next.names)
                let (reveals, now) = (task.options.reveals, loop.now.unixMilliseconds)
                isWritten =
                    task.options.isJSON
                    ? Terminal.output.json(
                        DeadLetterText.wholeJSON(next.letter, next.copy, reveals: reveals, nowUnixMilliseconds: now))
                    : Terminal.output.write(
                        DeadLetterText.whole(next.letter, next.copy, reveals: reveals, nowUnixMilliseconds: now))
            }
        } conclusion: { _, code in
            guard isWritten, code == .success else { return isWritten ? code : .failed }
            return task.tellMissing(found) ? .failed : .success
        }
    }
}
