import AMQP
import CommandKit
import Configuration
import DeadLetters
import EventLoop
import Text

/// The export of dead letters to a file. The dead letters stay in their queue.
struct DeadLetterExport {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        var written: Written?
        return await task.scanAll(on: loop) { scan in
            written = await write(scan, loop)
        } completion: { _, code in
            guard let written else { return code == .success ? .failed : code }
            Terminal.error.line("martlet: \(written.tags.count.counted("dead letter")) written to \(place)".printable)
            return code == .success && written.oversized > 0 ? .failed : code
        }
    }

    private var place: String { task.options.file == "-" ? "standard output" : task.options.file }

    /// The messages that were written, and the number of omitted messages.
    struct Written {
        var tags: [DeliveryTag] = []
        /// The names by which an operator can choose the written messages; empty if the options contain no ID.
        var names: Set<String> = []
        /// The number of messages omitted because their bodies are too large.
        var oversized = 0
    }

    /// Writes the chosen messages. Returns nil after an error line, or if the scan was cut short during a write. The
    /// file may then be incomplete.
    func write(_ scan: DeadLetterScan, _ loop: EpollLoop) async -> Written? {
        let path = task.options.file
        do throws(ReferenceResolver.ReadFailure) {
            let file = try ExportFile(path)
            var written = Written()
            let limit = task.options.limit ?? .max
            while written.tags.count < limit,
                let next = await task.next(in: scan)
            {
                guard !next.message.isOversized else {
                    written.oversized += 1
                    continue
                }
                guard
                    await file.write(
                        MessageLine.text(of: next.copy), on: loop, unless: { scan.isCutShort })
                else {
                    return cannotWrite(file, scan)
                }
                written.tags.append(next.message.tag)
                if !task.options.ids.isEmpty { written.names.formUnion(next.names) }
            }
            guard await file.finish(on: loop, unless: { scan.isCutShort }) else { return cannotWrite(file, scan) }
            if written.oversized > 0 {
                Terminal.error.line(
                    "martlet: \(written.oversized.counted("dead letter")) omitted: the bodies are larger than "
                        + "\(DeadLetterScan.messageBytesMax) bytes")
            }
            return written
        } catch {
            Terminal.error.line("martlet: cannot write \(path): \(error.reason)".printable)
            return nil
        }
    }

    private func cannotWrite(_ file: ExportFile, _ scan: DeadLetterScan) -> Written? {
        // The caller reports the end of the scan.
        if !scan.isCutShort {
            Terminal.error.line("martlet: cannot write \(place): \(file.failureReason)".printable)
        }
        return nil
    }
}
