import AMQP
import BrokerTopology
import CommandKit
import Configuration
import EventLoop
import Text

/// A wait for the results of published requests. Prints each result as `martlet watch` does.
final class ResultsWait {
    private let loop: EventLoop
    private let connector: BrokerConnector
    private let isJSON: Bool
    private let queue: ResultsQueue
    private let table: WatchTable
    private let lookup: ResultLookup
    private var awaited: AwaitedResults
    /// The worst exit code so far. Every outcome except `accepted`, and a report without devices, counts as `failed`.
    private var worst = ExitCode.success
    private var isOver = false
    private var hasHeader = false
    private var end: UnsafeContinuation<Void, Never>?

    init(
        loop: EventLoop, connector: BrokerConnector, isJSON: Bool, of messages: [OutgoingMessage], lookup: ResultLookup
    ) {
        self.lookup = lookup
        self.loop = loop
        self.connector = connector
        self.isJSON = isJSON
        queue = ResultsQueue(loop: loop, connector: connector, command: "martlet publish")
        awaited = AwaitedResults(of: messages)
        let output = Terminal.output
        table = WatchTable(width: output.isTerminal ? output.width : nil, hasColors: output.hasColors)
    }

    /// Publishes the requests, and waits for all results. Returns the worst exit code, such as `timedOut` for a
    /// missing result.
    ///
    /// - Parameter publish: calls its parameter with the message-id of each request that was certainly not published.
    func run(
        timeoutSeconds: Int, publish: (_ failed: (String) -> Void) async throws(AMQPError) -> ExitCode
    ) async throws(AMQPError) -> ExitCode {
        try await queue.open(
            on: [connector.names.resultsExchange, connector.names.otherDeadLettersExchange], Events(self))
        do throws(AMQPError) {
            let code = try await publish { awaited.remove($0) }
            await wait(seconds: timeoutSeconds)
            await queue.close()
            return .worse(code, worst)
        } catch {
            await queue.close()
            throw error
        }
    }

    private final class Events: ResultsHandler {
        private unowned let wait: ResultsWait

        init(_ wait: ResultsWait) { self.wait = wait }

        override func received(_ message: IncomingMessage) { wait.receive(message) }

        override func failed() { wait.finish(.unreachable) }
    }

    private func wait(seconds: Int) async {
        guard !isOver, !awaited.isEmpty else { return }
        let timer = loop.schedule(after: .seconds(seconds)) { [self] in
            let missing = awaited.missing.sorted().joined(separator: ", ")
            Terminal.error.line("martlet: no result for \(missing) within \(seconds) s".printable)
            finish(.timedOut)
        }
        let lookups = Task(executorPreference: loop) { [lookup, loop] in await lookup.repeatUntilCancelled(on: loop) }
        await withUnsafeContinuation { end = $0 }
        lookups.cancel()
        loop.cancel(timer)
    }

    private func receive(_ message: IncomingMessage) {
        let watched = WatchedMessage(message, isResult: message.exchange == connector.names.resultsExchange)
        guard !isOver, awaited.receive(watched) else { return }
        show(message, watched)
        let isGood = watched.kind == .report ? watched.devices != 0 : watched.outcome == "accepted"
        if !isGood { worst = .worse(worst, .failed) }
        if awaited.isEmpty { finish(.success) }
    }

    private func show(_ message: IncomingMessage, _ watched: WatchedMessage) {
        let now = loop.now.unixMilliseconds
        guard !isJSON else {
            Terminal.output.line(
                watched.json(WatchedEnvelope(message), nowUnixMilliseconds: now, revealsTokens: false).printable)
            return
        }
        if !hasHeader { Terminal.output.line(table.header) }
        hasHeader = true
        Terminal.output.line(table.text(watched, nowUnixMilliseconds: now, revealsTokens: false))
    }

    private func finish(_ code: ExitCode) {
        guard !isOver else { return }
        isOver = true
        worst = .worse(worst, code)
        end?.resume()
        end = nil
    }
}
