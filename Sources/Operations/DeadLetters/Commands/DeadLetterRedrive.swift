import AMQP
import Delivery
import EventLoop
import Glibc
import JSON

/// Sends dead letters back as requests: checked again, published, confirmed, and only then taken away.
actor DeadLetterRedrive {
    /// How long somebody who reads the lines of JSON is waited for after an interruption.
    private static let readerMillisecondsMax = 1000

    nonisolated let loop: EpollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let task: DeadLetterTask
    private let interruption: Interruption
    private let scan: DeadLetterScan
    private let target: RedriveTarget
    private let check: RequestCheck
    private var counts = RedriveCounts()
    /// Those that would be sent in a dry run.
    private var groups = DeadLetterGroups(by: [.class, .code, .app])
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
        target = RedriveTarget(names: task.access.names, queue: task.options.target)
        interruption = Interruption(on: loop)
        scan = task.scan(on: loop, interruption)
    }

    private var options: DeadLetterOptions { task.options }

    /// To be called on the loop's thread. Asks after a dry run where every dead letter would be sent unasked.
    static func run(_ task: DeadLetterTask, on loop: EpollLoop) async -> ExitCode {
        guard task.options.needsConfirmation else { return await DeadLetterRedrive(task, on: loop).run() }
        var preview = task
        preview.options.isDryRun = true
        let dryRun = DeadLetterRedrive(preview, on: loop)
        let code = await dryRun.run()
        let count = await dryRun.counts.redriven
        guard count > 0, code == .success || code == .failed else { return code }
        let interruption = Interruption(on: loop)
        let question = "Send \(count) dead letters of \(task.access.names.deadQueue) as requests?"
        let answer = await Question.ask(question, fallback: false, on: loop, interruption)
        interruption.end()
        guard let answer else { return interruption.code ?? .failed }
        guard answer else {
            Terminal.error.line("martlet: nothing was sent")
            return .failed
        }
        return await DeadLetterRedrive(task, on: loop).run()
    }

    func run() async -> ExitCode {
        defer { interruption.end() }
        if let failure = await task.open(scan) { return failure }
        let progress = ProgressLine(on: loop, total: scan.total, isJSON: options.isJSON) { [scan] in scan.seen }
        await redriveAll()
        progress.end()
        counts.seen = scan.seen
        let code = task.end(of: scan)
        let isSettled = await scan.close()
        if options.isDryRun, !options.isJSON {
            Terminal.output.write(DeadLetterText.table(groups, of: scan.seen, in: scan.queue))
        }
        await conclude()
        if let id = counts.firstRefused, !options.isJSON {
            let command = task.commands.completed("martlet dead-letters edit")
            Terminal.error.line(
                "martlet: correct a request that would fail again: \(command) \(Shell.word(id))".printable)
        }
        if !isSettled, !options.isDryRun, counts.redriven > 0 {
            Terminal.error.line(
                "martlet: \(scan.queue): whether the last were taken away is not known: run it again".printable)
            return code == .success ? .unreachable : code
        }
        if case .interrupted? = scan.end { return code }
        let isMissing = scan.end == .complete && task.tellMissing(found)
        guard code == .success else { return code }
        return self.failure ?? (isMissing || counts.areSomeAmiss ? .failed : .success)
    }

    private func conclude() async {
        guard options.isJSON else {
            Terminal.output.line(counts.line(isDryRun: options.isDryRun))
            return
        }
        lines += Array("\(counts.json(isDryRun: options.isDryRun))\n".utf8)
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
        var pace = options.ratePerSecond.map { Pace(perSecond: $0) }
        await withTaskGroup(of: Void.self) { group in
            var window = PublishWindow()
            var sent = 0
            while failure == nil, sent < options.limit ?? .max,
                let next = await task.next(in: scan)
            {
                await writeLines { self.scan.isCutShort }
                if !options.ids.isEmpty { found.formUnion(next.names) }
                guard let message = outgoing(next) else { continue }
                sent += 1
                if options.isDryRun {
                    counts.redriven += 1
                    groups.add(next.letter, nowUnixMilliseconds: loop.now.unixMilliseconds)
                    continue
                }
                if let wait = pace?.wait(now: loop.now.monotonic), wait > .zero { await loop.sleep(for: wait) }
                await window.makeRoom(in: &group)
                // The wait may have ended with the scan, or the others have failed.
                if scan.isCutShort || failure != nil { break }
                scan.takenCount += 1
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
        if let problem = check.problem(in: next.copy) {
            counts.refuse(problem.reason, DeadLetterText.shown(next.letter.id, reveals: false))
            report(next.letter.id, "invalid", problem.message, code: problem.reason)
            return nil
        }
        guard let queue = target.queue(for: next.letter) else {
            counts.failed += 1
            report(next.letter.id, "failed", target.advice(task, id: next.letter.id))
            return nil
        }
        return RedriveMessage.make(
            of: next.copy, next.letter, to: queue, resetsAttempts: options.resetsAttempts)
    }

    private func publish(
        _ message: OutgoingMessage, _ id: String, _ tag: DeliveryTag
    ) async {
        let outcome = await scan.publish(message)
        scan.takenCount -= 1
        if outcome == .confirmed {
            guard scan.holds(tag) else {
                counts.left += 1
                return report(id, "left", "published, and the connection was lost before it was taken away")
            }
            scan.acknowledge(tag)
            counts.redriven += 1
            return report(id, "redriven", nil)
        }
        if outcome.isUnknown { counts.unknown += 1 } else { counts.failed += 1 }
        let result = PublishReport(
            file: message.routingKey, messageID: id, outcome: outcome, commands: task.commands)
        report(id, outcome.isUnknown ? "unknown" : "failed", result.reason ?? "not published")
        if case .refused = outcome { return }
        // The others would fare the same.
        failure = result.exitCode
        scan.stop()
    }

    /// A line of JSON for each; for people those that were not published, some of them.
    ///
    /// - Parameter code: class and code of a worker's refusal.
    private func report(_ id: String, _ outcome: String, _ reason: String?, code: String? = nil) {
        let id = DeadLetterText.shown(id, reveals: false)
        if options.isJSON {
            var json = JSONWriter()
            json.beginObject()
            json.member("event", options.isDryRun ? "would_be_\(outcome)" : outcome)
            json.member("id", id)
            if let code { json.member("reason", code) }
            if let reason { json.member("message", DeadLetterText.shown(reason, reveals: false)) }
            json.endObject()
            lines += Array(Terminal.output.jsonLine(String(decoding: json.bytes, as: UTF8.self)).utf8)
        } else if let reason {
            failures.say("\(id): \(DeadLetterText.shown(reason, reveals: false))")
        }
    }
}
