import AMQP
import Actions
import BrokerTopology
import CommandKit
import Configuration
import DeadLetters
import EventLoop
import JSON
import Text

/// The import of exported dead letters from a file, as dead letters or as requests.
actor DeadLetterImport {
    private static let deadlineSeconds = 15

    nonisolated let loop: EpollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let task: DeadLetterTask
    private let interruption: Interruption
    private let publisher: Publisher
    private let target: RedriveTarget
    private let check: RedriveCheck
    private var published = 0
    private var notPublished = 0
    private var progress: LineProgress
    private var failures = FirstLines()
    private var failure: ExitCode?

    /// Creates an import. Call this initializer on the loop's thread.
    init(_ task: DeadLetterTask, on loop: EpollLoop) {
        self.task = task
        self.loop = loop
        target = RedriveTarget(names: task.connector.names, queue: task.options.target)
        check = RedriveCheck(task.rules, target)
        interruption = Interruption(on: loop)
        progress = LineProgress(after: task.options.firstLine - 1)
        publisher = Publisher(
            loop: loop, connectors: task.connector.connectors(on: loop),
            connection: task.connector.connection(named: "martlet dead-letters"))
    }

    func run() async -> ExitCode {
        defer { interruption.end() }
        BrokerWait.follow(publisher.connection, task.connector)
        publisher.start(RefusedUserIDReport())
        do {
            try await publisher.waitUntilReady(deadlineSeconds: Self.deadlineSeconds)
        } catch {
            Terminal.error.line(task.connector.line(error))
            await publisher.close()
            return .unreachable
        }
        interruption.hasBegun = true
        let isRead = await publishAll()
        await publisher.close()
        if !isRead || progress.hasGap || interruption.code != nil { printContinuation() }
        let verb = task.options.redrives ? "redriven" : "imported"
        if task.options.isJSON {
            Terminal.output.line(
                #"{"event":"summary","\#(verb)":\#(published),"failed":\#(notPublished),"last_line":\#(progress.last)}"#
            )
        } else {
            Terminal.output.line("\(verb) \(published)" + (notPublished > 0 ? ", not published \(notPublished)" : ""))
        }
        return interruption.code ?? failure ?? (isRead && notPublished == 0 ? .success : .failed)
    }

    private var place: String { task.options.file == "-" ? "standard input" : task.options.file }

    /// Prints the command that continues the import, if at least one line is completed. Importing from the first line
    /// would publish messages twice.
    private func printContinuation() {
        let last = progress.last
        guard last >= task.options.firstLine else { return }
        Terminal.error.line(
            "martlet: \(place): completed up to line \(last); to continue, run: \(command(fromLine: last + 1))"
                .printable)
    }

    /// Returns the command line of this import with another first line.
    private func command(fromLine line: Int) -> String {
        var rest = task.options
        rest.firstLine = line
        return rest.command(task.commands)
    }

    /// Publishes the lines of the file until a signal arrives or a publish fails. A refused message does not stop the
    /// import. Returns false after an error line if the file cannot be read or has fewer lines than `--from-line`
    /// skips.
    private func publishAll() async -> Bool {
        let (path, firstLine) = (task.options.file, task.options.firstLine)
        return await withTaskGroup(of: Void.self) { group in
            do throws(ReferenceResolver.ReadFailure) {
                var reader = try DocumentReader(path, bytesMax: MessageLine.bytesMax, awaitsWriter: false)
                var (number, window) = (0, PublishWindow())
                while failure == nil, interruption.code == nil,
                    let line = try await reader.line(
                        on: loop, unless: { self.failure != nil || self.interruption.code != nil })
                {
                    number += 1
                    guard number >= firstLine else { continue }
                    guard !line.isEmpty, let (message, id) = message(line, "\(path):\(number)") else {
                        progress.finish(number)
                        continue
                    }
                    await window.makeRoom(in: &group)
                    group.addTask { [number] in await self.publish(message, id, number) }
                }
                guard number < firstLine - 1, failure == nil, interruption.code == nil else { return true }
                throw ReferenceResolver.ReadFailure(reason: "the file ends at line \(number)")
            } catch {
                Terminal.error.line("martlet: cannot read \(place): \(error.reason)".printable)
                return false
            }
        }
    }

    /// Returns the message of a line. Counts and reports a line that cannot be published, and returns nil.
    private func message(_ line: [UInt8], _ place: String) -> (OutgoingMessage, id: String)? {
        let copy: RepublishableMessage
        do throws(MessageLine.Mistake) {
            copy = try MessageLine.message(line)
        } catch {
            refuse("\(place)\(error.position.map { ":\($0.column)" } ?? ""): \(error.message)")
            return nil
        }
        let letter = DeadLetter(copy)
        guard task.options.redrives else { return (copy.message(to: task.connector.names.deadQueue), letter.id) }
        if let problem = check.problem(in: copy, of: letter, now: loop.now.unixMilliseconds) {
            refuse("\(place): \(DeadLetterText.shown(problem.message, reveals: false))")
            return nil
        }
        guard let queue = target.queue(for: letter) else {
            refuse("\(place): \(target.advice(task, id: letter.id))")
            return nil
        }
        let message = RedriveMessage.make(
            of: copy, letter, to: queue, resetsAttempts: task.options.resetsAttempts)
        return (message, letter.id)
    }

    private func refuse(_ text: String) {
        notPublished += 1
        failures.report(text)
    }

    private func publish(_ message: OutgoingMessage, _ id: String, _ line: Int) async {
        let outcome = await publisher.publishWithoutRefusedUserID(message)
        if outcome == .confirmed {
            published += 1
            return progress.finish(line)
        }
        let report = PublishReport(
            file: message.routingKey, messageID: id, outcome: outcome, commands: task.commands)
        refuse("\(DeadLetterText.shown(id, reveals: false)): \(report.reason ?? "not published")")
        // The publisher refused the message, because no attempt can publish it. Other messages may be publishable.
        if case .refused = outcome { return progress.finish(line) }
        progress.leave(line)
        failure = report.exitCode
    }
}
