import AMQP
import Actions
import BrokerManagement
import BrokerTopology
import CommandKit
import Configuration
import DeadLetters
import EventLoop
import Text

/// The steps that commands on dead letters, unrouted results and waiting requests share, such as opening a scan and
/// reporting its end.
struct DeadLetterTask: Sendable {
    let connector: BrokerConnector
    /// The queues to scan; at least one.
    var queues: [String]
    var options: DeadLetterOptions
    let choice: DeadLetterChoice
    /// The rules by which requests are checked before they are sent; nil to check only the contract.
    var rules: RequestRules?
    /// Whether the workers have fleet control, so that a console may lock the queue.
    var hasFleetControl = false
    /// The lock that excludes other commands and consoles; nil for a command that removes no messages.
    var lock: QueueLock?

    /// Returns the settings with which the options publish messages again.
    func resendSettings(_ target: RedriveTarget) -> ResendSettings {
        var settings = ResendSettings(options.source, choice, to: target)
        (settings.rules, settings.limit, settings.ratePerSecond) = (rules, options.limit, options.ratePerSecond)
        (settings.isDryRun, settings.resetsAttempts) = (options.isDryRun, options.resetsAttempts)
        return settings
    }

    /// Totals of the scans of all queues.
    struct Totals {
        var seen = 0
        var total = 0
        /// Whether the scans read every message.
        var isComplete = true
    }

    /// The name of the queues, for operators.
    var place: String { options.source.place(connector.names) }

    /// The advice that completes the commands in remedies.
    var commands: CommandAdvice { CommandAdvice(options.broker) }

    /// Scans the queues without removing messages. Stops after the first queue whose scan fails.
    ///
    /// - Parameters:
    ///   - scanQueue: reads the scan of one queue.
    ///   - completion: prints the result after all messages are requeued. Receives the exit code of the scans. Not
    ///     called if a queue cannot be queried or opened.
    func scanAll(
        on loop: EpollLoop, _ scanQueue: (DeadLetterScan) async -> Void,
        completion: (Totals, ExitCode) -> ExitCode
    ) async -> ExitCode {
        let interruption = Interruption(on: loop)
        defer { interruption.end() }
        var (totals, code) = (Totals(), ExitCode.success)
        switch await filled(on: loop) {
        case .failure(let failure): return failure.code
        case .success(let filled):
            for queue in filled where code == .success {
                let scan = scan(of: queue, on: loop, interruption)
                if let failure = await open(scan) { return failure }
                await scanQueue(scan)
                code = end(of: scan)
                await scan.close()
                totals.seen += scan.seen
                totals.total += scan.total
                totals.isComplete = totals.isComplete && scan.isComplete
            }
        }
        return completion(totals, code)
    }

    /// A failure that has been printed.
    struct Failure: Error {
        var code: ExitCode
    }

    /// Returns the queues with ready messages, or the first queue if all are empty. Returns a single queue without a
    /// check. A signal during this call terminates the process if the caller has an `Interruption`.
    func filled(on loop: EpollLoop) async -> Result<[String], Failure> {
        guard queues.count > 1 else { return .success(queues) }
        let admin = connector.admin(named: options.source.command, on: loop)
        BrokerWait.follow(admin.connection, connector)
        admin.start()
        var filled: [String] = []
        do throws(AMQPError) {
            for queue in queues where try await admin.status(ofQueue: queue).messages > 0 { filled.append(queue) }
        } catch {
            report(error)
            await admin.close()
            return .failure(Failure(code: error.isUnreachable ? .unreachable : .failed))
        }
        await admin.close()
        return .success(filled.isEmpty ? [queues[0]] : filled)
    }

    /// Creates a scan of one queue.
    ///
    /// - Parameter queue: the queue to scan; nil for the first queue.
    func scan(of queue: String? = nil, on loop: EpollLoop, _ interruption: Interruption) -> DeadLetterScan {
        DeadLetterScan(
            of: queue ?? queues[0], options.source, connector, on: loop, interruption,
            deliveryLimit: options.deliveryLimit, window: options.scanWindow,
            connectionHandler: BrokerWait(loop: loop, connector: connector), publisherHandler: RefusedUserIDReport())
    }

    /// Verifies the target queue, if one is set, opens a scan, and prints a warning if the queue has other consumers.
    /// Returns an exit code after an error line if a step fails; otherwise nil.
    func open(_ scan: DeadLetterScan) async -> ExitCode? {
        do {
            if let target = options.target { try await scan.verifyQueue(target) }
        } catch {
            return await close(scan, error)
        }
        do {
            try await scan.open()
        } catch {
            return await close(scan, error, ofQueue: true)
        }
        if scan.otherConsumers > 0 {
            Terminal.error.line(
                ("martlet: another consumer reads \(scan.queue): the unacknowledged messages of that consumer are "
                    + "not visible").printable)
        }
        return nil
    }

    /// Prints an error, and closes the scan. Returns the exit code.
    ///
    /// - Parameter ofQueue: whether the error is about a queue of the topology.
    private func close(_ scan: DeadLetterScan, _ error: AMQPError, ofQueue: Bool = false) async -> ExitCode {
        if ofQueue { report(error) } else { Terminal.error.line(connector.line(error)) }
        await scan.close()
        return error.isUnreachable ? .unreachable : .failed
    }

    /// Prints an error about a queue of the topology, with a remedy if the queue does not exist.
    private func report(_ error: AMQPError) {
        let hint = error.code == .notFound ? "; \(commands.completed(TopologyAdvice.apply))" : ""
        Terminal.error.line(connector.line(error) + hint)
    }

    /// Returns the next chosen message; nil at the end of the scan.
    func next(in scan: DeadLetterScan) async -> FoundMessage? { await scan.next(of: choice) }

    /// Returns the exit code of a scan. Prints an error line if the scan failed. A signal causes no line.
    func end(of scan: DeadLetterScan) -> ExitCode {
        func line(_ advice: String = "") {
            Terminal.error.line("martlet: \(scan.problem ?? "")\(advice)".printable)
        }
        switch scan.end {
        case nil, .complete, .enough:
            return .success
        case .windowFull:
            line()
            return .failed
        case .tooLong:
            line()
            return .timedOut
        case .interrupted(let signal):
            return ExitCode(signal)
        case .lost(let error):
            Terminal.error.line(connector.line(error))
            return error.isUnreachable ? .unreachable : .failed
        case .worn:
            line(" " + DeadLetterScan.limitAdvice(scan.queue, in: connector.virtualHost))
            return .failed
        }
    }

    /// Reports requested IDs that were not found.
    ///
    /// - Parameters:
    ///   - seen: number of messages read.
    ///   - isComplete: whether every message was read.
    /// - Returns: whether an ID was not found.
    @discardableResult func reportMissing(_ found: Set<String>, of seen: Int, isComplete: Bool) -> Bool {
        let noun = options.source.noun
        for id in missing(found).map({ DeadLetterText.operand($0) }) {
            let text =
                "\(noun) \(id) not found" + (isComplete ? "" : " among the \(seen.counted("message")) read")
            Terminal.error.line("martlet: \(text)".printable)
        }
        return isMissing(found)
    }

    func isMissing(_ found: Set<String>) -> Bool { !missing(found).isEmpty }

    private func missing(_ found: Set<String>) -> [String] { options.ids.filter { !found.contains($0) } }
}
