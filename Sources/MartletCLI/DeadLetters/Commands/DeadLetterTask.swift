import AMQP
import BrokerManagement
import BrokerTopology
import CommandKit
import Configuration
import DeadLetters
import EventLoop
import Text

/// What all of the commands on dead letters, unrouted results and waiting requests begin with and end with.
struct DeadLetterTask: Sendable {
    let connector: BrokerConnector
    /// At least one.
    var queues: [String]
    var options: DeadLetterOptions
    let choice: DeadLetterChoice
    /// By which requests are checked before they are sent; nil: by the contract alone.
    var rules: RequestRules?

    /// What was looked at, in all queues.
    struct Looked {
        var seen = 0
        var total = 0
        /// Whether no message was out of sight.
        var isComplete = true
    }

    /// Where the messages are, for people.
    var place: String { options.source.place(connector.names) }

    /// Completes what an operator is advised to run.
    var commands: CommandAdvice { CommandAdvice(options.broker) }

    /// One that was chosen.
    struct Found {
        let message: IncomingMessage
        let copy: RepublishableMessage
        let letter: DeadLetter
    }

    /// Looks at what is there, and leaves it as it is.
    ///
    /// - Parameters:
    ///   - look: goes through the scan.
    ///   - conclusion: what is said once all is given back; the exit code is that of the scans' ends.
    func look(
        on loop: EpollLoop, _ look: (DeadLetterScan) async -> Void,
        conclusion: (Looked, ExitCode) -> ExitCode
    ) async -> ExitCode {
        let interruption = Interruption(on: loop)
        defer { interruption.end() }
        var (looked, code) = (Looked(), ExitCode.success)
        switch await filled(on: loop) {
        case .failure(let failure): return failure.code
        case .success(let filled):
            for queue in filled where code == .success {
                let scan = scan(of: queue, on: loop, interruption)
                if let failure = await open(scan) { return failure }
                await look(scan)
                code = end(of: scan)
                await scan.close()
                looked.seen += scan.seen
                looked.total += scan.total
                looked.isComplete = looked.isComplete && scan.isComplete
            }
        }
        return conclusion(looked, code)
    }

    /// Said already.
    struct Failure: Error {
        var code: ExitCode
    }

    /// The queues that hold messages now, of several; at least one. An interruption of the caller's ends the process.
    func filled(on loop: EpollLoop) async -> Result<[String], Failure> {
        guard queues.count > 1 else { return .success(queues) }
        let admin = connector.admin(named: options.source.command, on: loop)
        BrokerWait.follow(admin.connection, connector)
        admin.start()
        var filled: [String] = []
        do throws(AMQPError) {
            for queue in queues where try await admin.status(ofQueue: queue).messages > 0 { filled.append(queue) }
        } catch {
            say(error)
            await admin.close()
            return .failure(Failure(code: error.isUnreachable ? .unreachable : .failed))
        }
        await admin.close()
        return .success(filled.isEmpty ? [queues[0]] : filled)
    }

    /// - Parameter queue: nil for the only one.
    func scan(of queue: String? = nil, on loop: EpollLoop, _ interruption: Interruption) -> DeadLetterScan {
        DeadLetterScan(
            of: queue ?? queues[0], options.source, connector, on: loop, interruption,
            deliveryLimit: options.deliveryLimit, window: options.scanWindow,
            connectionHandler: BrokerWait(loop: loop, connector: connector), publisherHandler: RefusedUserIDReport())
    }

    /// Begins a scan; the exit code after an error line, when it cannot.
    func open(_ scan: DeadLetterScan) async -> ExitCode? {
        do {
            if let target = options.target { try await scan.look(for: target) }
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
                "martlet: somebody else reads \(scan.queue): what they hold is not seen here".printable)
        }
        return nil
    }

    /// - Parameter ofQueue: whether the error is about a queue of the topology.
    private func close(_ scan: DeadLetterScan, _ error: AMQPError, ofQueue: Bool = false) async -> ExitCode {
        if ofQueue { say(error) } else { Terminal.error.line(connector.line(error)) }
        await scan.close()
        return error.isUnreachable ? .unreachable : .failed
    }

    /// An error about a queue of the topology, with what to do.
    private func say(_ error: AMQPError) {
        let hint = error.code == .notFound ? "; \(commands.completed(TopologyAdvice.apply))" : ""
        Terminal.error.line(connector.line(error) + hint)
    }

    /// The next that is chosen; nil when the scan has ended.
    func next(in scan: DeadLetterScan) async -> Found? {
        while let message = await scan.next() {
            let copy = RepublishableMessage(message, connector.provenance(of: message))
            var letter = DeadLetter(copy, bodyBytes: Int(clamping: message.bodySize))
            switch options.source {
            case .deadLetters: break
            case .unrouted: letter.readResult(copy.body)
            // The broker returns it there.
            case .waits: letter.queue = message.routingKey
            }
            if choice.takes(letter, copy, nowUnixMilliseconds: scan.loop.now.unixMilliseconds) {
                return Found(message: message, copy: copy, letter: letter)
            }
        }
        return nil
    }

    /// What to do where a scan ended before its time, and the exit code.
    func end(of scan: DeadLetterScan) -> ExitCode {
        func line(_ text: String) { Terminal.error.line("martlet: \(scan.queue): \(text)".printable) }
        switch scan.end {
        case nil, .complete, .enough:
            return .success
        case .windowFull where scan.window < DeadLetterScan.windowMax:
            line("\(scan.window) \(options.source.noun)s stay and fill the window: run it again without --rate")
            return .failed
        case .windowFull:
            line(
                "no more than the oldest \(DeadLetterScan.windowMax) are looked at, and there were \(scan.total): "
                    + options.source.roomAdvice)
            return .failed
        case .tooLong:
            line(
                "stopped after \(DeadLetterScan.heldSecondsMax / 60) minutes, since RabbitMQ takes back after 30 what is "
                    + "held: run it again for the rest")
            return .timedOut
        case .interrupted(let signal):
            return ExitCode(signal)
        case .lost(let error):
            Terminal.error.line(connector.line(error))
            return error.isUnreachable ? .unreachable : .failed
        case .worn(let deliveries):
            let limit = options.deliveryLimit ?? 0
            line(
                "not looked at any further: a \(options.source.noun) was delivered in vain \(deliveries) times, and RabbitMQ throws it "
                    + "away after \(limit). \(DeadLetterScan.limitAdvice(scan.queue, in: connector.virtualHost))")
            return .failed
        }
    }

    /// Reports the IDs that were asked for and not found.
    ///
    /// - Parameters:
    ///   - seen: messages that were read.
    ///   - isComplete: whether these are all.
    /// - Returns: whether some are missing.
    @discardableResult func tellMissing(_ found: Set<String>, of seen: Int, isComplete: Bool) -> Bool {
        let noun = options.source.noun
        for id in missing(found).map({ DeadLetterText.operand($0) }) {
            let text =
                isComplete ? "no \(noun) \(id) was found" : "\(noun) \(id) is not among the \(seen) that were read"
            Terminal.error.line("martlet: \(text)".printable)
        }
        return isMissing(found)
    }

    func isMissing(_ found: Set<String>) -> Bool { !missing(found).isEmpty }

    private func missing(_ found: Set<String>) -> [String] { options.ids.filter { !found.contains($0) } }
}

extension DeadLetterTask.Found {
    /// By which it can be asked for.
    var names: [String] { [letter.id, copy.messageID].compactMap(\.self) }
}
