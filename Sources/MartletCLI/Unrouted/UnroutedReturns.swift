import AMQP
import BrokerTopology
import Configuration
import DeadLetters
import EventLoop

/// Finds the routing keys of results that still lead to no queue.
///
/// The broker confirms such a result and returns nothing, since the alternate exchange takes it. So a queue of the
/// command's own is bound to the alternate exchange and gets a copy. The first result of each routing key is published
/// alone. A marker follows it through the command's queue: when the marker comes, a copy of the result has come or never
/// will.
final class UnroutedReturns {
    private static let markerSecondsMax = 15

    private let loop: EventLoop
    private let exchange: String
    private let queue: ResultsQueue
    private var isRouted: [String: Bool] = [:]
    private var probe: Probe?

    private struct Probe {
        var routingKey: String
        var messageID: String
        var markerID: String
        var hasReturned = false
        /// Gets false when the marker has not come in time.
        var waiter: UnsafeContinuation<Bool, Never>?
    }

    init(loop: EventLoop, connector: BrokerConnector) {
        self.loop = loop
        exchange = connector.names.unroutedExchange
        queue = ResultsQueue(loop: loop, connector: connector, command: MessageSource.unrouted.command)
    }

    func open() async throws(AMQPError) { try await queue.open(on: [exchange], Events(self)) }

    private final class Events: ResultsHandler {
        private unowned let returns: UnroutedReturns

        init(_ returns: UnroutedReturns) { self.returns = returns }

        override func received(_ message: IncomingMessage) { returns.came(message) }

        override func failed() { returns.endProbe(isOver: false) }
    }

    func close() async { await queue.close() }

    /// Whether a queue takes results of this routing key; nil before the first has been published.
    subscript(routingKey: String) -> Bool? { isRouted[routingKey] }

    /// Publishes the first result of a routing key and finds out whether it has a queue. One at a time.
    ///
    /// - Returns: how the publish ended; `unknown` when the marker did not come.
    func publishFirst(
        _ message: OutgoingMessage, _ publish: (OutgoingMessage) async -> PublishOutcome
    ) async -> PublishOutcome {
        let markerID = "marker-\(loop.nextRandom())"
        probe = Probe(routingKey: message.routingKey, messageID: message.messageID, markerID: markerID)
        defer { probe = nil }
        let outcome = await publish(message)
        guard outcome == .confirmed else { return outcome }
        let marker = OutgoingMessage(exchange: "", routingKey: queue.name, body: [], messageID: markerID)
        guard await publish(marker) == .confirmed, await markerCame() else {
            return .unknown(AMQPError(.timedOut, "whether a queue took it is not known"))
        }
        isRouted[message.routingKey] = probe?.hasReturned == false
        return .confirmed
    }

    private func markerCame() async -> Bool {
        // It may have come before its confirm.
        guard probe?.markerID.isEmpty == false else { return true }
        let timer = loop.schedule(after: .seconds(Self.markerSecondsMax)) { [self] in endProbe(isOver: false) }
        defer { loop.cancel(timer) }
        return await withUnsafeContinuation { probe?.waiter = $0 }
    }

    private func came(_ message: IncomingMessage) {
        guard let probe else { return }
        let id = message.properties.messageID
        if id == probe.markerID {
            endProbe(isOver: true)
        } else if id == probe.messageID, message.routingKey == probe.routingKey {
            self.probe?.hasReturned = true
        }
    }

    private func endProbe(isOver: Bool) {
        if isOver { probe?.markerID = "" }
        probe?.waiter.take()?.resume(returning: isOver)
    }
}
