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

/// Sends dead letters back as requests: checked again, published, confirmed, and only then taken away. Unrouted results and
/// waiting requests are published again in the same way, unchecked.
actor DeadLetterRedrive {
    /// How long somebody who reads the lines of JSON is waited for after an interruption.
    private static let readerMillisecondsMax = 1000

    nonisolated let loop: EpollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let task: DeadLetterTask
    private let interruption: Interruption
    private var scan: DeadLetterScan
    private let target: RedriveTarget
    private let check: RequestCheck
    private var counts = RedriveCounts()
    private var sent = 0
    private var limiter: RateLimiter?
    /// nil where the broker itself returns what has no queue, and in a dry run.
    private let returns: UnroutedReturns?
    /// Those that would be sent in a dry run.
    private var groups: DeadLetterGroups
    private var found: Set<String> = []
    private var failures = FirstLines()
    /// Of JSON, which standard output has not taken yet.
    private var lines: [UInt8] = []
    /// What keeps further ones from being published as well.
    private var failure: ExitCode?

    /// To be called on the loop's thread.
    init(_ task: DeadLetterTask, on loop: EpollLoop) {
        self.task = task
        self.loop = loop
        check = RequestCheck(task.rules)
        target = RedriveTarget(names: task.connector.names, queue: task.options.target)
        interruption = Interruption(on: loop)
        scan = task.scan(on: loop, interruption)
        groups = DeadLetterGroups(by: task.options.groupedBy)
        limiter = task.options.ratePerSecond.map { RateLimiter(perSecond: $0) }
        returns =
            task.options.source == .unrouted && !task.options.isDryRun
            ? UnroutedReturns(loop: loop, connector: task.connector) : nil
    }

    private var options: DeadLetterOptions { task.options }

    /// To be called on the loop's thread. Asks after a dry run where every message would be sent unasked.
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
            Terminal.error.line("martlet: nothing was sent")
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
            Terminal.error.line("martlet: correct a request that would fail again: \(command)".printable)
        }
        if case .interrupted? = scan.end { return code }
        let isMissing = sent < options.limit ?? .max && task.tellMissing(found, of: counts.seen, isComplete: isComplete)
        guard code == .success else { return code }
        return self.failure ?? (isMissing || counts.areSomeAmiss ? .failed : .success)
    }

    /// Goes through the scan, which is open, and closes it.
    private func redriveQueue() async -> ExitCode {
        let progress = ProgressLine(on: loop, total: scan.total, isJSON: options.isJSON) { [scan] in scan.seen }
        await redriveAll()
        progress.end()
        counts.seen += scan.seen
        let code = task.end(of: scan)
        let isSettled = await scan.close()
        guard !isSettled, scan.acknowledgedCount > 0 else { return code }
        Terminal.error.line(
            "martlet: \(scan.queue): whether the last were taken away is not known: run it again".printable)
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
        Terminal.error.line("martlet: \(lines.count { $0 == UInt8(ascii: "\n") }) lines were read by nobody")
    }

    /// Waits for whoever reads them, in which the loop turns on; nobody else may be waiting.
    private func writeLines(unless isOver: () -> Bool) async {
        guard !lines.isEmpty else { return }
        var rest = lines
        lines = []
        let isWritten = await FileWriter.write(&rest, to: STDOUT_FILENO, on: loop, unless: isOver)
        lines = rest + lines
        guard !isWritten, rest.isEmpty, failure == nil else { return }
        // Whoever read them has gone, and would not know what is sent from here on.
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
                // The wait may have ended with the scan, or the others have failed.
                if scan.isCutShort || failure != nil { break }
                scan.takenCount += 1
                if let returns, returns[message.routingKey] == nil {
                    await publish(message, next.letter.id, next.message.tag)
                    continue
                }
                // Not the letter, whose body would be held beside the message's.
                group.addTask { [id = next.letter.id, tag = next.message.tag] in await self.publish(message, id, tag) }
            }
            scan.stop()
        }
    }

    /// nil, counted and reported, when it stays.
    private func outgoing(_ next: DeadLetterTask.Found) -> OutgoingMessage? {
        if next.message.isOversized {
            counts.refuse("size.message_bytes", nil)
            report(next.letter.id, "invalid", "the body is too large", code: "size.message_bytes")
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
        if let problem = check.problem(in: next.copy) {
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
                return report(id, "left", "published, and the connection was lost before it was taken away")
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
        // Requests in the next wait queue may come from another queue.
        if case .returned = outcome, options.source == .waits { return }
        // The others would fare the same.
        failure = result.exitCode
        scan.stop()
    }

    /// Publishes a message; the first of its routing key with the question whether it has a queue.
    private func outcome(of message: OutgoingMessage) async -> PublishOutcome {
        guard let returns, returns[message.routingKey] == nil else { return await scan.publish(message) }
        return await returns.publishFirst(message) { await self.scan.publish($0) }
    }

    private static func unroutable(_ message: OutgoingMessage) -> String {
        "no queue is bound for \(message.routingKey)"
    }

    /// A line of JSON for each; for people those that were not published, some of them.
    ///
    /// - Parameters:
    ///   - code: class and code of a worker's refusal.
    ///   - remedy: in place of a reason; its ids are whole.
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
            failures.say("\(id): \(text)")
        }
    }
}
