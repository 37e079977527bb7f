import AMQP
import Actions
import BrokerTopology
import CommandKit
import Configuration
import Crypto
import Delivery
import EventLoop
import Text

/// The publication of files as requests. Prints the outcome of each request.
struct PublishSession: Sendable {
    let connector: BrokerConnector
    let options: PublishCommand.Options

    private var commands: CommandAdvice { CommandAdvice(options.broker) }

    /// Reads all files before connecting, since reading can block. Publishes the readable files. The worst outcome
    /// determines the exit code.
    func run() -> ExitCode {
        guard options.queue != nil || connector.names.requestQueues.count == 1 else {
            let choice = connector.names.requestQueues.map { options.command(commands, queue: $0) }
            Terminal.error.line(
                "martlet: several request queues are configured; run: \(choice.joined(separator: ", or: "))".printable)
            return .usage
        }
        guard let users = options.users.users() else { return .failed }
        let readable = options.files.compactMap { RequestFile.read($0) }
        guard !readable.isEmpty else { return .failed }
        let files = users.isEmpty ? readable : readable.map { $0.addressed(to: users, scope: options.scope) }
        let code = CommandLoop.run { await publish(files, on: $0) }
        return files.count == options.files.count ? code : .worse(code, .failed)
    }

    private func publish(_ files: [RequestFile], on loop: EventLoop) async -> ExitCode {
        do {
            let messages = try files.map { file throws(CryptoError) in
                (file.name, try message(file, unixSeconds: loop.now.unixSeconds))
            }
            guard options.waits else { return try await publish(messages, on: loop) }
            let results = ResultsWait(
                loop: loop, connector: connector, isJSON: options.isJSON, of: messages.map(\.1),
                lookup: ResultLookup(connector: connector, queue: options.queue, commands: commands))
            return try await results.run(timeoutSeconds: options.timeoutSeconds) { failed throws(AMQPError) in
                try await publish(messages, on: loop, failed: failed)
            }
        } catch let error as AMQPError {
            Terminal.error.line(connector.line(error))
            return .unreachable
        } catch {
            Terminal.error.line("martlet: \(error)".printable)
            return .failed
        }
    }

    private func message(_ file: RequestFile, unixSeconds: Int64) throws(CryptoError) -> OutgoingMessage {
        try RequestFile.message(
            body: options.hasNewID ? file.withNewID() : file.body,
            to: options.queue.map { .queue($0) } ?? .exchange(connector.names.requestsExchange),
            id: options.messageID, unixSeconds: unixSeconds)
    }

    /// Publishes the requests one after the other, and prints the publish outcome of each.
    ///
    /// - Parameter failed: called with the message-id of each request that was certainly not published.
    private func publish(
        _ messages: [(name: String, message: OutgoingMessage)], on loop: EventLoop,
        failed: (String) -> Void = { _ in }
    ) async throws(AMQPError) -> ExitCode {
        let publisher = try await connector.publisher(
            named: "martlet publish", timeoutSeconds: options.timeoutSeconds, on: loop
        ) { $0.start() }
        var worst = ExitCode.success
        for (name, message) in messages {
            let outcome = await publisher.publish(message)
            let report = PublishReport(
                file: name, messageID: message.messageID, outcome: outcome, commands: commands)
            show(report)
            if report.exitCode != .success, !outcome.isUnknown { failed(message.messageID) }
            worst = .worse(worst, report.exitCode)
        }
        await publisher.close()
        return worst
    }

    private func show(_ report: PublishReport) {
        let terminal = report.exitCode == .success || options.isJSON ? Terminal.output : Terminal.error
        terminal.line(options.isJSON ? report.json : report.line)
    }
}
