import AMQP
import Delivery
import EventLoop

/// Publishes files as requests and tells what became of each.
struct PublishCommand {
    /// Files larger than this are not read: no broker takes them.
    private static let fileBytesMax = 16 << 20

    let access: BrokerAccess
    let options: Invocation.PublishOptions

    /// The worst that became of a file decides the exit code.
    func run(on loop: EventLoop) async -> ExitCode {
        var configuration = PublisherConfiguration()
        configuration.publishTimeoutSeconds = options.timeoutSeconds
        configuration.confirmTimeoutSeconds = options.timeoutSeconds
        let publisher = Publisher(
            loop: loop, connectors: access.connectors(on: loop),
            connection: access.connection(named: "martlet publish"), configuration: configuration)
        publisher.start()
        do {
            try await publisher.waitUntilReady(deadlineSeconds: options.timeoutSeconds)
        } catch {
            Terminal.error.line(access.line(error))
            await publisher.close()
            return .unreachable
        }
        var worst = ExitCode.success
        for file in options.files {
            let code = await publish(file, with: publisher, unixSeconds: loop.now.unixSeconds)
            if code.rawValue > worst.rawValue { worst = code }
        }
        await publisher.close()
        return worst
    }

    private func publish(_ file: String, with publisher: Publisher, unixSeconds: Int64) async -> ExitCode {
        let message: OutgoingMessage
        do {
            let body = try FileReader.bytes(of: file, bytesMax: Self.fileBytesMax, allowsStandardInput: true)
            message = try RequestFile.message(
                body: body, exchange: access.names.requestsExchange, id: options.messageID, unixSeconds: unixSeconds)
        } catch let error as ReferenceResolver.ReadFailure {
            Terminal.error.line("martlet: cannot read \(file): \(error.reason)".printable)
            return .failed
        } catch {
            Terminal.error.line("martlet: \(error)".printable)
            return .failed
        }
        let outcome = await publisher.publish(message)
        let report = PublishReport(file: file, messageID: message.messageID, outcome: outcome)
        let text = options.isJSON ? report.json : report.line
        let terminal = report.exitCode == .success || options.isJSON ? Terminal.output : Terminal.error
        terminal.line(text)
        return report.exitCode
    }
}
