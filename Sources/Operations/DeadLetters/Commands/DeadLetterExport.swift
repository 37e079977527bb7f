import AMQP
import EventLoop

/// Writes dead letters to a file, and leaves them where they are.
struct DeadLetterExport {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        let interruption = Interruption(on: loop)
        defer { interruption.end() }
        let scan = task.scan(on: loop, interruption)
        if let failure = await task.open(scan) { return failure }
        let written = await write(scan, loop)
        let code = task.end(of: scan)
        await scan.close()
        guard let written else { return .failed }
        let place = task.options.file == "-" ? "standard output" : task.options.file
        Terminal.error.line("martlet: \(written.tags.count) dead letters are in \(place)".printable)
        return code == .success && written.oversized > 0 ? .failed : code
    }

    /// What is in the file.
    struct Written {
        var tags: [DeliveryTag] = []
        /// By which they may have been asked for.
        var names: Set<String> = []
        /// What is not in it.
        var oversized = 0
    }

    /// nil after an error line: nothing is sure to be in the file.
    func write(_ scan: DeadLetterScan, _ loop: EpollLoop) async -> Written? {
        let path = task.options.file
        do throws(ReferenceResolver.ReadFailure) {
            let file = try ExportFile(path)
            var written = Written()
            let limit = task.options.limit ?? .max
            while written.tags.count < limit,
                let next = await task.next(in: scan, nowUnixMilliseconds: { loop.now.unixMilliseconds })
            {
                guard !next.message.isOversized else {
                    written.oversized += 1
                    continue
                }
                guard file.write(MessageLine.text(of: next.copy)) else { return cannotWrite(path) }
                written.tags.append(next.message.tag)
                if !task.options.ids.isEmpty { written.names.formUnion(next.names) }
            }
            guard file.finish() else { return cannotWrite(path) }
            if written.oversized > 0 {
                Terminal.error.line(
                    "martlet: \(written.oversized) are left out: their bodies have more than "
                        + "\(DeadLetterScan.messageBytesMax) bytes")
            }
            return written
        } catch {
            Terminal.error.line("martlet: cannot write \(path): \(error.reason)".printable)
            return nil
        }
    }

    private func cannotWrite(_ path: String) -> Written? {
        Terminal.error.line("martlet: cannot write \(path)".printable)
        return nil
    }
}
