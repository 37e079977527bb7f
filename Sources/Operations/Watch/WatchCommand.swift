import AMQP
import Crypto
import Delivery
import EventLoop

/// Shows results and dead letters as they come, from a queue of its own.
///
/// The queue is an ordinary one that the broker deletes when nobody has used it for a while, so that it is there before
/// anything is shown and outlives a short loss of the connection; it is deleted when the command ends.
final class WatchCommand {
    /// How long the broker keeps the queue after a command that was killed.
    private static let queueExpiresMilliseconds: Int64 = 60_000
    /// Messages that wait for a slow terminal; the oldest are dropped then.
    private static let queueLengthMax: Int64 = 100_000
    private static let prefetch = 500
    private static let connectDeadlineSeconds = 15
    /// How long a lost connection is tried again: less than the queue is kept, so that nothing is missed.
    private static let reconnectDeadlineSeconds = 40

    private let loop: EventLoop
    private let access: BrokerAccess
    private let options: Invocation.WatchOptions
    private let output: Terminal
    private let table: WatchTable
    private var left: Int?
    private var end: UnsafeContinuation<ExitCode, Never>?
    private var result: ExitCode?
    private var reconnectDeadline: TimerToken?

    init(loop: EventLoop, access: BrokerAccess, options: Invocation.WatchOptions, output: Terminal = .output) {
        self.loop = loop
        self.access = access
        self.options = options
        self.output = output
        table = WatchTable(width: output.isTerminal ? output.width : nil, hasColors: output.hasColors)
        left = options.count
    }

    func run() async -> ExitCode {
        do {
            return try await watch()
        } catch {
            Terminal.error.line(access.line(error))
            return error.isUnreachable ? .unreachable : .failed
        }
    }

    private func watch() async throws(AMQPError) -> ExitCode {
        let queue = "\(access.names.prefix).watch.\(randomName)"
        let admin = access.admin(
            named: "martlet watch", on: loop, deadlineSeconds: Self.connectDeadlineSeconds)
        BrokerWait.follow(admin.connection, access)
        admin.start()
        try await makeQueue(queue, admin)
        // From here on the consumer's connection speaks for both.
        admin.connection.onStateChange = { _ in }
        let consumer = Consumer(
            loop: loop, connectors: access.connectors(on: loop), connection: access.connection(named: "martlet watch"),
            configuration: ConsumerConfiguration(queue: queue, prefetch: Self.prefetch))
        consumer.onDelivery = { [self] message in
            consumer.acknowledge(message.tag)
            show(message)
        }
        consumer.onStateChange = { [self] state in
            if case .waiting(let error, _) = state { failed(error) }
        }
        let wait = BrokerWait(loop: loop, access: access)
        consumer.connection.onStateChange = { [self] state in
            wait.changed(state)
            changed(state)
        }
        consumer.start()
        announce()
        let code = await ended()
        await consumer.close()
        _ = try? await admin.deleteQueue(queue)
        await admin.close()
        return code
    }

    private func makeQueue(_ queue: String, _ admin: BrokerAdmin) async throws(AMQPError) {
        try await admin.declareQueue(
            queue,
            arguments: [
                "x-queue-type": "classic", "x-expires": .integer(Self.queueExpiresMilliseconds),
                "x-max-length": .integer(Self.queueLengthMax),
            ])
        let names = access.names
        let results = options.filter.isOfDeadLetters ? [] : [names.resultsExchange]
        for exchange in results + [names.deadExchange, names.brokerDeadLettersExchange] {
            try await admin.bindQueue(queue, toExchange: exchange, routingKey: "#")
        }
    }

    private var randomName: String {
        String(loop.nextRandom(), radix: 36)
    }

    /// Everything published from now on will be seen.
    private func announce() {
        Terminal.error.line("martlet: listening at \(access.place)")
        if let path = options.readyFile, !FileWriter.create(path) {
            Terminal.error.line("martlet: cannot create \(path)".printable)
            finish(.failed)
        }
        if !options.isJSON { output.line(table.header) }
        if let seconds = options.timeoutSeconds {
            loop.schedule(after: .seconds(seconds)) { [self] in finish(left == nil ? .success : .timedOut) }
        }
    }

    /// The connection is another than it was.
    private func changed(_ state: BrokerState) {
        switch state {
        case .waiting(let error, _):
            guard error.isRetriable else { return failed(error) }
            if reconnectDeadline == nil {
                let seconds = Self.reconnectDeadlineSeconds
                reconnectDeadline = loop.schedule(after: .seconds(seconds)) { [self] in
                    Terminal.error.line(
                        "martlet: the broker was away for \(seconds) seconds; what was published since then is not shown"
                    )
                    finish(.unreachable)
                }
            }
        case .ready:
            if let reconnectDeadline { loop.cancel(reconnectDeadline) }
            reconnectDeadline = nil
        case .idle, .connecting, .disconnected, .blocked, .closed: break
        }
    }

    /// The queue, or the way to it, is not as it should be.
    private func failed(_ error: AMQPError) {
        Terminal.error.line(access.line(error))
        if !error.isRetriable || error.code == .notFound { finish(.unreachable) }
    }

    private func show(_ message: IncomingMessage) {
        guard result == nil else { return }
        let properties = message.properties
        let watched =
            message.exchange == access.names.resultsExchange
            ? WatchedMessage(result: message.body, messageID: properties.messageID)
            : WatchedMessage(
                deadLetter: message.body, messageID: properties.messageID, headers: properties.headers ?? FieldTable())
        guard options.filter.lets(watched) else { return }
        let now = loop.now.unixMilliseconds
        let line = options.isJSON ? json(message, watched, now) : table.line(watched, nowUnixMilliseconds: now)
        // Nobody reads any more: `martlet watch | head`.
        guard output.line(line) else { return finish(.success) }
        if let left {
            self.left = left - 1
            if left <= 1 { finish(.success) }
        }
    }

    private func json(_ message: IncomingMessage, _ watched: WatchedMessage, _ nowUnixMilliseconds: Int64) -> String {
        let line = watched.json(
            WatchedEnvelope(message), nowUnixMilliseconds: nowUnixMilliseconds, revealsTokens: options.revealsTokens)
        // A program gets the body as it is; it must not steer a terminal.
        return output.isTerminal ? line.printable : line
    }

    private func finish(_ code: ExitCode) {
        guard result == nil else { return }
        result = code
        end?.resume(returning: code)
        end = nil
    }

    private func ended() async -> ExitCode {
        if let result { return result }
        return await withUnsafeContinuation { end = $0 }
    }
}
