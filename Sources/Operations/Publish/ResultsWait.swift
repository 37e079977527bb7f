import AMQP
import Delivery
import EventLoop

/// Waits for the results of messages that a command has published, and shows each as `martlet watch` does.
final class ResultsWait {
    private let loop: EventLoop
    private let access: BrokerAccess
    private let isJSON: Bool
    private let queue: ResultsQueue
    private let table: WatchTable
    /// Message-ids without a result.
    private var waiting: Set<String> = []
    private var worst = ExitCode.success
    private var hasHeader = false
    private var end: UnsafeContinuation<Void, Never>?

    init(loop: EventLoop, access: BrokerAccess, isJSON: Bool) {
        self.loop = loop
        self.access = access
        self.isJSON = isJSON
        queue = ResultsQueue(loop: loop, access: access, command: "martlet publish")
        let output = Terminal.output
        table = WatchTable(width: output.isTerminal ? output.width : nil, hasColors: output.hasColors)
    }

    /// To be called before anything is published.
    func begin(with ids: [String]) async throws(AMQPError) {
        waiting = Set(ids)
        queue.onMessage = { [unowned self] in take($0) }
        queue.onFailure = { [unowned self] error in
            Terminal.error.line(access.line(error))
            finish(.unreachable)
        }
        try await queue.open(on: [access.names.resultsExchange, access.names.brokerDeadLettersExchange])
    }

    /// This one will have none: it was not published.
    func forget(_ id: String) { waiting.remove(id) }

    /// The worst that any of them was: `failed` for every outcome but `accepted`, and `timedOut` when one is missing.
    func result(withinSeconds seconds: Int) async -> ExitCode {
        let timer = loop.schedule(after: .seconds(seconds)) { [self] in
            Terminal.error.line(
                "martlet: no result within \(seconds) s of \(waiting.sorted().joined(separator: ", "))".printable)
            finish(.timedOut)
        }
        if !waiting.isEmpty { await withUnsafeContinuation { end = $0 } }
        loop.cancel(timer)
        await queue.close()
        return worst
    }

    private func take(_ message: IncomingMessage) {
        let properties = message.properties
        let watched =
            message.exchange == access.names.resultsExchange
            ? WatchedMessage(result: message.body, messageID: properties.messageID)
            : WatchedMessage(
                deadLetter: message.body, messageID: properties.messageID, headers: properties.headers ?? FieldTable())
        let ids = [watched.messageID, watched.id].compactMap { $0 }
        guard let id = ids.first(where: { waiting.contains($0) }) else { return }
        waiting.remove(id)
        show(message, watched)
        if watched.outcome != "accepted" { worst = .worse(worst, .failed) }
        if waiting.isEmpty { finish(.success) }
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
        Terminal.output.line(table.line(watched, nowUnixMilliseconds: now))
    }

    private func finish(_ code: ExitCode) {
        worst = .worse(worst, code)
        end?.resume()
        end = nil
    }
}
