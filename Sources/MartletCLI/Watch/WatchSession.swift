import AMQP
import BrokerManagement
import BrokerTopology
import CommandKit
import Configuration
import Crypto
import DeadLetters
import Delivery
import EventLoop
import Glibc
import Text

/// The output of results and dead letters as they are published.
final class WatchSession {
    /// Maximum time to reconnect. Shorter than the expiry of the queue.
    private static let reconnectDeadlineSeconds = 40

    private let loop: EpollLoop
    private let connector: BrokerConnector
    private let options: WatchCommand.Options
    private let output: Terminal
    private let table: WatchTable
    private var left: Int?
    private var end: UnsafeContinuation<ExitCode, Never>?
    private var result: ExitCode?
    private var reconnectDeadline: TimerToken?

    init(loop: EpollLoop, connector: BrokerConnector, options: WatchCommand.Options, output: Terminal = .output) {
        self.loop = loop
        self.connector = connector
        self.options = options
        self.output = output
        table = WatchTable(width: output.isTerminal ? output.width : nil, hasColors: output.hasColors)
        left = options.count
    }

    func run() async -> ExitCode {
        let quits = quitByKey()
        defer { quits?() }
        do {
            return try await watch()
        } catch {
            Terminal.error.line(connector.line(error))
            return error.isUnreachable ? .unreachable : .failed
        }
    }

    /// Ends the command on `q`, if input and output are a terminal. Signals then also cause an orderly end, which
    /// restores the terminal's mode.
    ///
    /// - Returns: a function that restores the previous state. nil if standard input or output is not a terminal, or
    ///   another job uses the terminal. Also nil if the mode of the terminal cannot be set.
    private func quitByKey() -> (() -> Void)? {
        guard output.isTerminal, let keys = KeyInput() else { return nil }
        Interruption.block()
        let interruption = Interruption(on: loop)
        interruption.hasBegun = true
        interruption.atOnce = { keys.end() }
        interruption.add(InterruptionEnd(self))
        var watch: DescriptorWatch?
        watch = DescriptorWatch(
            loop: loop, descriptor: STDIN_FILENO, for: .readable,
            action: { [self] in
                switch keys.read() {
                case .quit: finish(.success)
                case .other: break
                case .ended:
                    watch?.end()
                    watch = nil
                }
            }, abandoned: {})
        return {
            watch?.end()
            interruption.end()
            keys.end()
        }
    }

    private final class InterruptionEnd: InterruptionHandler {
        private let session: WatchSession

        init(_ session: WatchSession) { self.session = session }

        override func interrupted(_ signal: Interruption.Signal) { session.finish(ExitCode(signal)) }
    }

    private func watch() async throws(AMQPError) -> ExitCode {
        let queue = ResultsQueue(loop: loop, connector: connector, command: "martlet watch")
        let names = connector.names
        try await queue.open(
            on: (options.filter.isOfDeadLetters ? [] : [names.resultsExchange])
                + [names.deadExchange, names.otherDeadLettersExchange], Events(self))
        announce()
        let code = await ended()
        await queue.close()
        return code
    }

    private final class Events: ResultsHandler {
        private unowned let session: WatchSession

        init(_ session: WatchSession) { self.session = session }

        override func received(_ message: IncomingMessage) { session.show(message) }

        override func statusChanged(_ status: BrokerStatus) { session.changed(status) }

        override func failed() { session.finish(.unreachable) }
    }

    /// Prints a line that the command is listening, creates the file of `--ready-file`, and, unless the output is JSON,
    /// prints the header of the table. Also starts the timeout.
    private func announce() {
        Terminal.error.line("martlet: listening at \(connector.place)")
        if let path = options.readyFile, !FileWriter.create(path) {
            Terminal.error.line("martlet: cannot create \(path): \(String(cString: strerror(errno)))".printable)
            finish(.failed)
        }
        if !options.isJSON { output.line(table.header) }
        if let seconds = options.timeoutSeconds {
            loop.schedule(after: .seconds(seconds)) { [self] in finish(left == nil ? .success : .timedOut) }
        }
    }

    /// Limits the time of a reconnection.
    private func changed(_ state: BrokerStatus) {
        switch state {
        case .waiting:
            if reconnectDeadline == nil {
                let seconds = Self.reconnectDeadlineSeconds
                reconnectDeadline = loop.schedule(after: .seconds(seconds)) { [self] in
                    Terminal.error.line(
                        "martlet: broker connection lost for \(seconds) seconds; messages published since the loss are not shown"
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

    private func show(_ message: IncomingMessage) {
        guard result == nil else { return }
        let watched = WatchedMessage(message, isResult: message.exchange == connector.names.resultsExchange)
        guard options.filter.matches(watched) else { return }
        let now = loop.now.unixMilliseconds
        let line =
            options.isJSON
            ? json(message, watched, now)
            : table.text(watched, nowUnixMilliseconds: now, revealsTokens: options.revealsTokens)
        // If the write fails, the reader has exited, as in `martlet watch | head`.
        guard output.line(line) else { return finish(.success) }
        if let left {
            self.left = left - 1
            if left <= 1 { finish(.success) }
        }
    }

    private func json(_ message: IncomingMessage, _ watched: WatchedMessage, _ nowUnixMilliseconds: Int64) -> String {
        let line = watched.json(
            WatchedEnvelope(message), nowUnixMilliseconds: nowUnixMilliseconds, revealsTokens: options.revealsTokens)
        // On a terminal, the line must not contain control characters.
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
