import CommandKit
import DeadLetters
import EventLoop
import Glibc
import Text

/// The removal of dead letters from their queue after they are written to a file.
struct DeadLetterDrop {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        guard task.options.file != "-" else {
            Terminal.error.line("martlet: option --export requires a file, not standard output")
            return .usage
        }
        guard task.options.saysYes || ConfirmationPrompt.isInteractive else {
            Terminal.error.line("martlet: standard input is not a terminal; pass --yes")
            return .usage
        }
        let interruption = Interruption(on: loop)
        defer { interruption.end() }
        let scan = task.scan(on: loop, interruption)
        if let failure = await task.open(scan) { return failure }
        let (written, failure) = await choose(scan, loop, interruption)
        let loss = written == nil ? nil : task.lockLoss()
        let held = loss == nil ? written?.tags.filter { scan.holds($0) } ?? [] : []
        for tag in held { scan.acknowledge(tag) }
        let code = written == nil ? failure : task.end(of: scan)
        let isSettled = await scan.close()
        guard let written else { return code }
        guard isSettled || held.isEmpty else {
            Terminal.error.line(
                ("martlet: \(task.options.file) has \(held.count.counted("dead letter")), but \(scan.queue) may still "
                    + "contain these dead letters: check the queue before you import the file").printable)
            return .unreachable
        }
        printSummary(held.count, of: scan)
        guard loss == nil, held.count == written.tags.count else { return .unreachable }
        return code == .success && (task.isMissing(written.names) || written.oversized > 0) ? .failed : code
    }

    private func printSummary(_ dropped: Int, of scan: DeadLetterScan) {
        if task.options.isJSON {
            Terminal.output.line(#"{"event":"summary","dropped":\#(dropped)}"#)
        } else {
            Terminal.output.line(
                "dropped \(dropped) of \(scan.seen.counted("dead letter")); file: \(task.options.file)".printable)
        }
    }

    /// Writes the file, reports IDs that were not found, and asks for confirmation unless `--yes` is set. Returns nil
    /// and an exit code after a failure, if the scan ended early, or if the operator does not confirm.
    private func choose(
        _ scan: DeadLetterScan, _ loop: EpollLoop, _ interruption: Interruption
    ) async -> (DeadLetterExport.Written?, failure: ExitCode) {
        guard let written = await DeadLetterExport(task).write(scan, loop) else { return (nil, .failed) }
        let (count, file) = (written.tags.count, task.options.file)
        switch scan.end {
        case nil, .complete, .enough, .windowFull: break
        // If the scan ended early, drop nothing, because the operator may delete the incomplete file.
        case .tooLong, .interrupted, .lost, .worn:
            // An empty file would only make the next run fail.
            if count == 0, file != "-" { unlink(file) }
            return (nil, task.end(of: scan))
        }
        task.reportMissing(written.names, of: scan.seen, isComplete: scan.isComplete)
        if count > 0, !task.options.saysYes {
            let question = "\(count.counted("dead letter")) written to \(file). Drop from \(scan.queue)?"
            guard let answer = await ConfirmationPrompt.ask(question, fallback: false, on: loop, interruption) else {
                return (nil, task.end(of: scan))
            }
            guard answer else { return (nil, .failed) }
        }
        return (written, .success)
    }
}
