import AMQP
import Actions
import BrokerManagement
import CommandKit
import Configuration
import DeadLetters
import Delivery
import EventLoop
import Glibc
import JSON
import Text

/// The redrive of dead letters as requests, and the return of unrouted results and waiting requests, with its output.
final class DeadLetterRedrive {
    /// Maximum time after the scan in which the remaining JSON lines are written despite a signal.
    private static let readerMillisecondsMax = 1000

    private let loop: EpollLoop
    private let task: DeadLetterTask
    private let interruption: Interruption
    private var scan: DeadLetterScan
    private let target: RedriveTarget
    private lazy var resend = MessageResend(task.resendSettings(target), on: loop, self)
    /// The detection of results without a bound queue. nil in a dry run, and for other messages, which the broker
    /// returns if they are unroutable.
    private let returns: UnroutedReturns?
    /// In a dry run, the groups of messages that would be sent.
    private var groups: DeadLetterGroups
    private var found: Set<String> = []
    private var failures = FirstLines()
    /// JSON lines that are not yet written to standard output.
    private var lines: [UInt8] = []
    /// The exit code of a failure of the output or the lock.
    private var failure: ExitCode?

    /// Creates a redrive. Call this initializer on the loop's thread.
    init(_ task: DeadLetterTask, on loop: EpollLoop) {
        self.task = task
        self.loop = loop
        target = RedriveTarget(names: task.connector.names, queue: task.options.target)
        interruption = Interruption(on: loop)
        scan = task.scan(on: loop, interruption)
        groups = DeadLetterGroups(by: task.options.groupedBy)
        returns =
            task.options.source == .unrouted && !task.options.isDryRun
            ? UnroutedReturns(loop: loop, connector: task.connector) : nil
    }

    private var options: DeadLetterOptions { task.options }

    /// Runs the redrive. If the options need confirmation, first runs a dry run and asks the operator.
    /// Call this function on the loop's thread.
    static func run(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        guard task.options.needsConfirmation else { return await run(task, on: loop).code }
        var preview = task
        preview.options.isDryRun = true
        let (code, count) = await run(preview, on: loop)
        guard count > 0, code == .success || code == .failed else { return code }
        let interruption = Interruption(on: loop)
        interruption.hasBegun = true
        let question = task.options.source.question(count, task.connector.names)
        let answer = await ConfirmationPrompt.ask(question, fallback: false, on: loop, interruption)
        interruption.end()
        guard let answer else { return interruption.code ?? .failed }
        guard answer else {
            Terminal.error.line("martlet: nothing sent")
            return .failed
        }
        return await run(task, on: loop).code
    }

    private static func run(_ task: DeadLetterTask, on loop: EpollLoop) async -> (code: ExitCode, count: Int) {
        var task = task
        let interruption = Interruption(on: loop)
        let filled = await task.filled(on: loop)
        interruption.end()
        switch filled {
        case .failure(let failure): return (failure.code, 0)
        case .success(let queues): task.queues = queues
        }
        let redrive = DeadLetterRedrive(task, on: loop)
        return (await redrive.run(), redrive.resend.counts.redriven)
    }

    func run() async -> ExitCode {
        defer { interruption.end() }
        do throws(AMQPError) {
            try await returns?.open()
        } catch {
            Terminal.error.line(task.connector.line(error))
            return error.isUnreachable ? .unreachable : .failed
        }
        var (code, isComplete) = (ExitCode.success, true)
        for (index, queue) in task.queues.enumerated() {
            if index > 0 { scan = task.scan(of: queue, on: loop, interruption) }
            if let failure = await task.open(scan) {
                guard index > 0 else {
                    await returns?.close()
                    return failure
                }
                code = failure
                break
            }
            code = await redriveQueue()
            isComplete = isComplete && scan.isComplete
            guard code == .success, !resend.isOver else { break }
        }
        await returns?.close()
        if options.isDryRun, !options.isJSON {
            Terminal.output.write(DeadLetterText.table(groups, of: resend.counts.seen, in: task.place, options.source))
        }
        await conclude()
        if let id = resend.counts.firstRefused, !options.isJSON {
            let command = options.edit(id).command(task.commands)
            Terminal.error.line("martlet: to correct a request that would fail again, run: \(command)".printable)
        }
        if case .interrupted? = scan.end { return code }
        let isMissing =
            !resend.isFull && task.reportMissing(found, of: resend.counts.seen, isComplete: isComplete)
        guard code == .success else { return code }
        if let failure = self.failure ?? resend.failure.map({ report(of: $0).exitCode }) { return failure }
        return isMissing || resend.counts.areSomeAmiss ? .failed : .success
    }

    /// Processes the open scan, and closes the scan. Returns the exit code.
    private func redriveQueue() async -> ExitCode {
        let progress = ProgressLine(on: loop, total: scan.total, isJSON: options.isJSON) { [scan] in scan.seen }
        await resend.run(scan)
        progress.end()
        let code = task.end(of: scan)
        let isSettled = await scan.close()
        guard !isSettled, scan.acknowledgedCount > 0 else { return code }
        Terminal.error.line(
            "martlet: \(scan.queue): the last messages may still be in the queue; run the command again".printable)
        return code == .success ? .unreachable : code
    }

    private func conclude() async {
        guard options.isJSON else {
            Terminal.output.line(resend.counts.line(isDryRun: options.isDryRun, verb: options.source.resent))
            return
        }
        lines += Array("\(resend.counts.json(isDryRun: options.isDryRun, options.source))\n".utf8)
        let deadline = loop.now.monotonic + .milliseconds(Self.readerMillisecondsMax)
        await writeLines { self.interruption.code != nil && self.loop.now.monotonic >= deadline }
        guard !lines.isEmpty else { return }
        let count = lines.count { $0 == UInt8(ascii: "\n") }
        Terminal.error.line("martlet: \(count.counted("line")) not written: standard output is not read")
    }

    /// Writes the lines to standard output. The loop continues while the reader is slow. Stops the scan if the reader
    /// has exited. The function is not reentrant.
    private func writeLines(unless isOver: () -> Bool) async {
        guard !lines.isEmpty else { return }
        var rest = lines
        lines = []
        let isWritten = await FileWriter.write(&rest, to: STDOUT_FILENO, on: loop, unless: isOver)
        lines = rest + lines
        guard !isWritten, rest.isEmpty, failure == nil else { return }
        // The reader has exited, so the outcome of further messages could not be reported.
        failure = .failed
        resend.stop()
    }

    private func report(of outcome: PublishOutcome, routingKey: String = "", id: String = "") -> PublishReport {
        PublishReport(file: routingKey, messageID: id, outcome: outcome, commands: task.commands)
    }

    /// Reports an outcome: one JSON line for each message, or text for the first few messages that were
    /// not redriven.
    ///
    /// - Parameters:
    ///   - code: class and code of a worker's refusal.
    ///   - remedy: replaces the reason, and contains complete IDs.
    private func report(
        _ id: String, _ outcome: String, _ reason: String? = nil, code: String? = nil, remedy: String? = nil
    ) {
        let id = DeadLetterText.shown(id, reveals: false)
        let text = remedy ?? reason.map { DeadLetterText.shown($0, reveals: false) }
        if options.isJSON {
            var json = JSONWriter()
            json.beginObject()
            json.member("event", options.isDryRun ? "would_be_\(outcome)" : outcome)
            json.member("id", id)
            if let code { json.member("reason", code) }
            if let text { json.member("message", text) }
            json.endObject()
            lines += Array(Terminal.output.jsonLine(String(decoding: json.bytes, as: UTF8.self)).utf8)
        } else if let text {
            failures.report("\(id): \(text)")
        }
    }
}

extension DeadLetterRedrive: ResendHandler {
    func chose(_ message: FoundMessage) async {
        await writeLines { self.scan.isCutShort }
        if failure == nil, let loss = task.lockLoss() {
            failure = loss
            resend.stop()
        }
        if !options.ids.isEmpty { found.formUnion(message.names) }
    }

    func wouldSend(_ letter: DeadLetter) { groups.add(letter, nowUnixMilliseconds: loop.now.unixMilliseconds) }

    func isRouted(_ routingKey: String) -> Bool? { returns.map { $0[routingKey] } ?? true }

    func publishFirst(
        _ message: OutgoingMessage, _ publish: (OutgoingMessage) async -> PublishOutcome
    ) async -> PublishOutcome {
        guard let returns else { return await publish(message) }
        return await returns.publishFirst(message, publish)
    }

    func reported(_ event: ResendReport) {
        let id = event.id
        switch event.outcome {
        case .resent: report(id, options.source.resent.replacing(" ", with: "_"))
        case .refused(let code, let reason): report(id, "invalid", reason, code: code)
        case .foreign(let reason): report(id, "failed", reason)
        case .noTarget: report(id, "failed", remedy: target.advice(task, id: id))
        case .unroutable(let routingKey): report(id, "unroutable", "no queue bound for \(routingKey)")
        case .notPublished(let outcome, let routingKey):
            let reason = report(of: outcome, routingKey: routingKey, id: id).reason
            report(id, outcome.isUnknown ? "unknown" : "failed", reason ?? "not published")
        case .left:
            report(id, "left", "published, but the broker connection was lost before the message was removed")
        }
    }
}
