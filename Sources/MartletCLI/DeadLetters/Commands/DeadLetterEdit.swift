import AMQP
import Actions
import CommandKit
import Configuration
import DeadLetters
import Delivery
import EventLoop
import Glibc
import JSON
import Text

/// The change of a dead letter's body in an editor, followed by the redrive of the dead letter.
struct DeadLetterEdit {
    let task: DeadLetterTask

    init(_ task: DeadLetterTask) { self.task = task }

    func run(on loop: EpollLoop) async -> ExitCode {
        let interruption = Interruption(on: loop)
        defer { interruption.end() }
        let (first, failure) = await task.withLock(
            on: loop, using: interruption, { _ in await find(loop, interruption) }, refused: { (nil, $0) })
        guard let first else { return failure }
        let target = RedriveTarget(names: task.connector.names, queue: task.options.target)
        guard let queue = target.queue(for: first.letter) else {
            let advice = target.advice(task, id: task.options.ids[0])
            Terminal.error.line("martlet: \(advice)".printable)
            return .usage
        }
        let file: EditedFile
        do {
            file = try EditedFile(first.copy.body)
        } catch {
            Terminal.error.line("martlet: cannot write a file to edit: \(error.reason)".printable)
            return .failed
        }
        interruption.atOnce = { Self.leave(file, unlessItIs: first.copy.body) }
        let (isSent, code) = await edit(first, in: file, to: queue, loop, interruption)
        interruption.atOnce = {}
        if isSent { file.remove() } else { Self.leave(file, unlessItIs: first.copy.body) }
        return code
    }

    /// Removes the file. If the text has changed or cannot be read, keeps the file and prints its path instead.
    private static func leave(_ file: EditedFile, unlessItIs body: [UInt8]) {
        guard (try? file.text()) != body else { return file.remove() }
        Terminal.error.line("martlet: your changes are in \(file.path)".printable)
    }

    private func edit(
        _ first: FoundMessage, in file: EditedFile, to queue: String, _ loop: EpollLoop,
        _ interruption: Interruption
    ) async -> (isSent: Bool, ExitCode) {
        guard let body = await edited(first, in: file, loop, interruption) else {
            return (false, interruption.code ?? .failed)
        }
        if body == first.copy.body {
            guard await sendsUnchanged(first, loop, interruption) else {
                Terminal.output.line("unchanged, nothing sent")
                return (false, interruption.code ?? .success)
            }
        }
        return await task.withLock(
            on: loop, using: interruption, { _ in await replace(first, by: body, to: queue, loop, interruption) },
            refused: { (false, $0) })
    }

    /// Returns whether to send an unchanged body without its `content-encoding`. Returns false if that property is not
    /// the only mistake. Otherwise asks the operator, unless `--yes` is set. Without a terminal, prints the command
    /// that sends the body, and returns false.
    private func sendsUnchanged(
        _ first: FoundMessage, _ loop: EpollLoop, _ interruption: Interruption
    ) async -> Bool {
        guard let coding = ContentCoding.compression(in: first.copy.contentEncoding),
            problem(in: first.copy.body, of: first, loop) == nil
        else { return false }
        if task.options.saysYes { return true }
        guard ConfirmationPrompt.isInteractive else {
            var options = task.options
            options.saysYes = true
            let command = options.command(task.commands)
            Terminal.error.line(
                "martlet: only content-encoding (\(coding)) is wrong; to drop this property, run: \(command)"
                    .printable)
            return false
        }
        let question = "Only content-encoding (\(coding)) is wrong. Send the body without this property?"
        return await ConfirmationPrompt.ask(question, fallback: false, on: loop, interruption) ?? false
    }

    private func problem(
        in body: [UInt8], of first: FoundMessage, _ loop: EpollLoop
    ) -> ValidationResult.Problem? {
        var copy = first.copy
        copy.body = body
        let target = RedriveTarget(names: task.connector.names, queue: task.options.target)
        return RedriveCheck(task.rules, target)
            .problem(inBodyOf: copy, first.letter, now: loop.now.unixMilliseconds)
    }

    /// Finds the dead letter to edit. Requeues all messages of the scan.
    private func find(
        _ loop: EpollLoop, _ interruption: Interruption
    ) async -> (FoundMessage?, failure: ExitCode) {
        let scan = task.scan(on: loop, interruption)
        if let failure = await task.open(scan) { return (nil, failure) }
        var found = EditChoice()
        while let next = await task.next(in: scan) {
            found.add(next)
        }
        // A scan with a full window did not read newer messages, but the dead letter that it found can be edited.
        let code = scan.end == .windowFull && found.first != nil ? .success : task.end(of: scan)
        await scan.close()
        guard code == .success else { return (nil, code) }
        guard let first = found.first else {
            _ = task.reportMissing([], of: scan.seen, isComplete: scan.isComplete)
            return (nil, .failed)
        }
        if let advice = found.advice(task.options, task.commands) {
            Terminal.error.line("martlet: \(advice)".printable)
        } else if first.message.isOversized {
            Terminal.error.line(
                "martlet: cannot edit the dead letter: the body is larger than \(DeadLetterScan.messageBytesMax) bytes")
        } else {
            return (first, .success)
        }
        return (nil, .failed)
    }

    /// Returns the edited body; nil after an interruption or an error line.
    private func edited(
        _ first: FoundMessage, in file: EditedFile, _ loop: EpollLoop, _ interruption: Interruption
    ) async -> [UInt8]? {
        while true {
            let hasSucceeded = await Editor(file.path)?.hasSucceeded(interruption) ?? false
            guard interruption.code == nil else { return nil }
            guard hasSucceeded else {
                Terminal.error.line("martlet: cannot send the body: the editor failed")
                return nil
            }
            let text: [UInt8]
            do {
                text = try file.text()
            } catch {
                Terminal.error.line("martlet: cannot read \(file.path): \(error.reason)".printable)
                return nil
            }
            guard text != first.copy.body, let problem = problem(in: text, of: first, loop) else { return text }
            Terminal.error.line(
                "body:\(problem.position.line):\(problem.position.column): \(problem.message)".printable)
            Terminal.error.line(
                SourceExcerpt.text(text, problem.position, width: Terminal.error.width, reveals: false))
            let editsAgain =
                ConfirmationPrompt.isInteractive
                ? await ConfirmationPrompt.ask("Edit again?", fallback: true, on: loop, interruption) : false
            guard let editsAgain else { return nil }
            guard editsAgain else {
                Terminal.error.line("martlet: cannot send the body: a worker would refuse the body")
                return nil
            }
        }
    }

    /// Publishes the edited request, then removes the dead letter if the broker confirms the request. Sends nothing if
    /// the dead letter has left the queue.
    private func replace(
        _ first: FoundMessage, by body: [UInt8], to queue: String, _ loop: EpollLoop,
        _ interruption: Interruption
    ) async -> (isSent: Bool, ExitCode) {
        let scan = task.scan(on: loop, interruption)
        if let failure = await task.open(scan) { return (false, failure) }
        let mark = DeadLetterMark(first.letter)
        var same: FoundMessage?
        while let next = await task.next(in: scan) {
            guard DeadLetterMark(next.letter) == mark, next.copy.body == first.copy.body else { continue }
            same = next
            break
        }
        guard let same else {
            let code = task.end(of: scan)
            await scan.close()
            if code == .success {
                Terminal.error.line("martlet: cannot send the body: the dead letter is no longer in the queue")
            }
            return (false, code == .success ? .failed : code)
        }
        let message = RedriveMessage.edited(same, body, to: queue)
        let outcome = await scan.publish(message)
        let isHeld = scan.holds(same.message.tag)
        if outcome == .confirmed, isHeld { scan.acknowledge(same.message.tag) }
        let isSettled = await scan.close()
        let isSent = outcome == .confirmed
        let id = DeadLetterText.shown(message.messageID, reveals: false)
        let report = PublishReport(
            file: "to \(queue)", messageID: id, outcome: outcome, commands: task.commands)
        (isSent ? Terminal.output : Terminal.error).line(report.line)
        if isSent, !isHeld || !isSettled {
            Terminal.error.line("martlet: broker connection lost: the dead letter may still be in the queue")
            return (true, .failed)
        }
        return (isSent, report.exitCode)
    }
}
