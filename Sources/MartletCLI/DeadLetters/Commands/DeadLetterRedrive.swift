import AMQP
import BrokerManagement
import CommandKit
import Configuration
import DeadLetters
import Delivery
import EventLoop
import Glibc
import JSON
import Text

/// The redrive of dead letters as requests. A dead letter is checked again, published, and removed after the broker's
/// confirm. Unrouted results and waiting requests are published in the same way, but their bodies are not checked.
actor DeadLetterRedrive {
    /// Maximum time after the scan in which the remaining JSON lines are written despite a signal.
    private static let readerMillisecondsMax = 1000

    nonisolated let loop: EpollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let task: DeadLetterTask
    private let interruption: Interruption
    private var scan: DeadLetterScan
    private let target: RedriveTarget
    private let check: RedriveCheck
    private var counts = RedriveCounts()
    private var sent = 0
    private var limiter: RateLimiter?
    /// The detection of results without a bound queue. nil in a dry run, and for other messages, which the broker
    /// returns if they are unroutable.
    private let returns: UnroutedReturns?
    /// In a dry run, the groups of messages that would be sent.
    private var groups: DeadLetterGroups
    private var found: Set<String> = []
    private var failures = FirstLines()
    /// JSON lines that are not yet written to standard output.
    private var lines: [UInt8] = []
    /// The exit code of a failure that stops publishing.
    private var failure: ExitCode?

    /// Creates a redrive. Call this initializer on the loop's thread.
    init(_ task: DeadLetterTask, on loop: EpollLoop) {
        self.task = task
        self.loop = loop
        target = RedriveTarget(names: task.connector.names, queue: task.options.target)
        check = RedriveCheck(task.rules, target)
        interruption = Interruption(on: loop)
        scan = task.scan(on: loop, interruption)
        groups = DeadLetterGroups(by: task.options.groupedBy)
        limiter = task.options.ratePerSecond.map { RateLimiter(perSecond: $0) }
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
        return (await redrive.run(), await redrive.counts.redriven)
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
            guard code == .success, failure == nil, sent < options.limit ?? .max else { break }
        }
        await returns?.close()
        if options.isDryRun, !options.isJSON {
            Terminal.output.write(DeadLetterText.table(groups, of: counts.seen, in: task.place, options.source))
        }
        await conclude()
        if let id = counts.firstRefused, !options.isJSON {
            let command = options.edit(id).command(task.commands)
            Terminal.error.line("martlet: to correct a request that would fail again, run: \(command)".printable)
        }
        if case .interrupted? = scan.end { return code }
        let isMissing =
            sent < options.limit ?? .max
            && task.reportMissing(found, of: counts.seen, isComplete: isComplete)
        guard code == .success else { return code }
        return self.failure ?? (isMissing || counts.areSomeAmiss ? .failed : .success)
    }

    /// Processes the open scan, and closes the scan. Returns the exit code.
    private func redriveQueue() async -> ExitCode {
        let progress = ProgressLine(on: loop, total: scan.total, isJSON: options.isJSON) { [scan] in scan.seen }
        await redriveAll()
        progress.end()
        counts.seen += scan.seen
        let code = task.end(of: scan)
        let isSettled = await scan.close()
        guard !isSettled, scan.acknowledgedCount > 0 else { return code }
        Terminal.error.line(
            "martlet: \(scan.queue): the last messages may still be in the queue; run the command again".printable)
        return code == .success ? .unreachable : code
    }

    private func conclude() async {
        guard options.isJSON else {
            Terminal.output.line(counts.line(isDryRun: options.isDryRun, verb: options.source.resent))
            return
        }
        lines += Array("\(counts.json(isDryRun: options.isDryRun, options.source))\n".utf8)
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
        scan.stop()
    }

    private func redriveAll() async {
        await withTaskGroup(of: Void.self) { group in
            var window = PublishWindow()
            while failure == nil, sent < options.limit ?? .max,
                let next = await task.next(in: scan)
            {
                await writeLines { self.scan.isCutShort }
                if !options.ids.isEmpty { found.formUnion(next.names) }
                guard let message = outgoing(next) else { continue }
                if returns?[message.routingKey] == false {
                    counts.unroutable += 1
                    report(next.letter.id, "unroutable", Self.unroutable(message))
                    continue
                }
                sent += 1
                if options.isDryRun {
                    counts.redriven += 1
                    groups.add(next.letter, nowUnixMilliseconds: loop.now.unixMilliseconds)
                    continue
                }
                if let wait = limiter?.wait(now: loop.now.monotonic), wait > .zero { await loop.sleep(for: wait) }
                await window.makeRoom(in: &group)
                // During the wait, the scan may have ended or other messages may have failed.
                if scan.isCutShort || failure != nil { break }
                scan.takenCount += 1
                if let returns, returns[message.routingKey] == nil {
                    await publish(message, next.letter.id, next.message.tag)
                    continue
                }
                // Capture only the ID and the tag, because `next` would keep another body in memory.
                group.addTask { [id = next.letter.id, tag = next.message.tag] in await self.publish(message, id, tag) }
            }
            scan.stop()
        }
    }

    /// Returns the message to publish. Counts and reports a message that stays in the queue, and returns nil.
    private func outgoing(_ next: DeadLetterTask.Found) -> OutgoingMessage? {
        if next.message.isOversized {
            counts.refuse("size.message_bytes", nil)
            report(next.letter.id, "invalid", "body too large", code: "size.message_bytes")
            return nil
        }
        do throws(ResendMessage.Refusal) {
            switch options.source {
            case .deadLetters: break
            case .unrouted: return try ResendMessage.result(next.message, next.copy, task.connector.names)
            case .waits: return try ResendMessage.request(next.message, next.copy, task.connector.names)
            }
        } catch {
            counts.failed += 1
            report(next.letter.id, "failed", error.text)
            return nil
        }
        if let problem = check.problem(in: next.copy, of: next.letter, now: loop.now.unixMilliseconds) {
            counts.refuse(problem.reason, next.letter.id)
            report(next.letter.id, "invalid", problem.message, code: problem.reason)
            return nil
        }
        guard let queue = target.queue(for: next.letter) else {
            counts.failed += 1
            report(next.letter.id, "failed", remedy: target.advice(task, id: next.letter.id))
            return nil
        }
        return RedriveMessage.make(
            of: next.copy, next.letter, to: queue, resetsAttempts: options.resetsAttempts)
    }

    private func publish(
        _ message: OutgoingMessage, _ id: String, _ tag: DeliveryTag
    ) async {
        defer { scan.takenCount -= 1 }
        let outcome = await outcome(of: message)
        if outcome == .confirmed {
            guard scan.holds(tag) else {
                counts.left += 1
                return report(
                    id, "left", "published, but the broker connection was lost before the message was removed")
            }
            scan.acknowledge(tag)
            if returns?[message.routingKey] == false {
                counts.unroutable += 1
                return report(id, "unroutable", Self.unroutable(message))
            }
            counts.redriven += 1
            return report(id, options.source.resent.replacing(" ", with: "_"))
        }
        if outcome.isUnknown { counts.unknown += 1 } else { counts.failed += 1 }
        let result = PublishReport(
            file: message.routingKey, messageID: id, outcome: outcome, commands: task.commands)
        report(id, outcome.isUnknown ? "unknown" : "failed", result.reason ?? "not published")
        if case .refused = outcome { return }
        // Other requests of this wait queue may belong to another request queue.
        if case .returned = outcome, options.source == .waits { return }
        // The other messages would also fail.
        failure = result.exitCode
        scan.stop()
    }

    /// Publishes a message. For the first result with each routing key, also determines whether a queue is bound.
    private func outcome(of message: OutgoingMessage) async -> PublishOutcome {
        guard let returns, returns[message.routingKey] == nil else { return await scan.publish(message) }
        return await returns.publishFirst(message) { await self.scan.publish($0) }
    }

    private static func unroutable(_ message: OutgoingMessage) -> String {
        "no queue bound for \(message.routingKey)"
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
