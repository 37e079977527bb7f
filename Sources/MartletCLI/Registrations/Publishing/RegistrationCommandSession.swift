import AMQP
import BrokerTopology
import CommandKit
import Configuration
import Crypto
import EventLoop
import Registrations
import Text

/// The publication of registration commands. Prints the reply to each command.
struct RegistrationCommandSession: Sendable {
    let connector: BrokerConnector
    let options: RegistrationCommandOptions

    private var exchange: String { connector.names.registrationsExchange }

    /// Creates and validates all commands before it connects. The worst outcome determines the exit code.
    func run() -> ExitCode {
        guard let users = options.users.users() else { return .failed }
        return CommandLoop.run { loop in
            do {
                let messages = try messages(users.isEmpty ? [nil] : users, now: loop.now)
                return try await publish(messages, on: loop)
            } catch let violation as CommandViolation {
                Terminal.error.line("martlet: invalid command: \(violation.sentence)".printable)
                return .usage
            } catch let error as AMQPError {
                Terminal.error.line(connector.line(error))
                return .unreachable
            } catch {
                Terminal.error.line("martlet: \(error)".printable)
                return .failed
            }
        }
    }

    private func messages(_ users: [String?], now: Now) throws -> [OutgoingMessage] {
        try users.map { user in
            let id = try UUIDValue.random()
            var message = OutgoingMessage(
                exchange: exchange, routingKey: "registration.\(options.app)",
                body: try options.body(of: user, id: id, now: now.unixMilliseconds), messageID: id.description,
                correlationID: id.description)
            message.replyTo = Publisher.directReplyTo
            message.timestampSeconds = UInt64(exactly: now.unixSeconds)
            message.appID = "martlet registrations"
            return message
        }
    }

    /// Publishes each command after the reply to the previous one. Stops at the first command that is not confirmed or
    /// has no reply.
    private func publish(_ messages: [OutgoingMessage], on loop: EventLoop) async throws(AMQPError) -> ExitCode {
        let replies = ReplyWait(on: loop)
        let publisher = try await connector.publisher(
            named: "martlet registrations", timeoutSeconds: options.timeoutSeconds, on: loop
        ) { $0.startWithReplies(replies) }
        var worst = ExitCode.success
        for message in messages {
            replies.expect(message.messageID)
            let outcome = await publisher.publish(message)
            guard outcome == .confirmed else {
                worst = .worse(worst, report(outcome, of: message))
                break
            }
            let answer = await answer(replies, on: loop)
            worst = .worse(worst, report(answer, to: message))
            guard case .reply = answer else { break }
        }
        await publisher.close()
        return worst
    }

    private func answer(_ replies: ReplyWait, on loop: EventLoop) async -> ReplyWait.Answer {
        let lookup = ResultLookup(ofRegistrationReplies: connector, commands: CommandAdvice(options.broker))
        let lookups = Task(executorPreference: loop) { await lookup.repeatUntilCancelled(on: loop) }
        defer { lookups.cancel() }
        return await replies.answer(withinSeconds: options.timeoutSeconds)
    }

    /// Prints a reply, or why there is none. Returns the exit code.
    private func report(_ answer: ReplyWait.Answer, to message: OutgoingMessage) -> ExitCode {
        switch answer {
        case .reply(let body):
            let reply = CommandReply(body, to: options.word, id: message.messageID)
            let terminal = reply.exitCode == .success || options.isJSON ? Terminal.output : Terminal.error
            terminal.line(options.isJSON ? reply.json : reply.line)
            return reply.exitCode
        case .lost:
            Terminal.error.line(
                "martlet: broker connection lost before the reply; run the command again: a repeated command changes "
                    + "nothing")
            return .unreachable
        case .timedOut:
            let place = "the command remains in \(connector.names.registrationsQueue) until a worker consumes it"
            Terminal.error.line("martlet: no reply within \(options.timeoutSeconds) s; \(place)".printable)
            return .timedOut
        }
    }

    /// Prints why a command was not published. Returns the exit code.
    private func report(_ outcome: PublishOutcome, of message: OutgoingMessage) -> ExitCode {
        let commands = CommandAdvice(configPath: options.broker.configPath ?? "FILE")
        let report = PublishReport(
            file: exchange, messageID: message.messageID, outcome: outcome, commands: commands)
        var (reason, code) = (report.reason ?? "", report.exitCode)
        let declaration = commands.completed(
            "add the section registrations to the workers' configuration, then run: martlet topology apply")
        switch outcome {
        case .returned: reason = "no queue is bound to exchange \(exchange); \(declaration)"
        case .unknown(let error) where error.code == .notFound: reason = "\(error.message); \(declaration)"
        case .unknown(let error) where error.code == .accessRefused:
            reason =
                "\(error.message); use an AMQP user that may write to exchange \(exchange), such as martlet-registrar; "
                + commands.completed("to print its permissions, run: martlet topology print") + " --format rabbitmqctl"
            code = .failed
        case .confirmed, .nacked, .unknown, .notSent, .refused: break
        }
        Terminal.error.line("martlet: cannot publish the command: \(reason)".printable)
        return code
    }
}
