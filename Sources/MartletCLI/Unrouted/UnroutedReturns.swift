import AMQP
import BrokerTopology
import Configuration
import DeadLetters
import EventLoop

/// A detector of routing keys for which no queue is bound to the result exchange.
///
/// The broker confirms a result without a bound queue and returns nothing, since the alternate exchange routes the
/// result. Therefore a queue of this command is bound to the alternate exchange and receives a copy. The first result
/// of each routing key is published separately, followed by a marker to the command's queue. When the marker arrives,
/// a copy of the result either has arrived before or will not arrive.
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
        /// The continuation that waits for the marker. Resumed with false if the marker does not arrive.
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

        override func received(_ message: IncomingMessage) { returns.handle(message) }

        override func failed() { returns.endProbe(isOver: false) }
    }

    func close() async { await queue.close() }

    /// Whether a queue is bound for the routing key; nil if unknown.
    subscript(routingKey: String) -> Bool? { isRouted[routingKey] }

    /// Publishes the first result of a routing key and determines whether a queue is bound. The function is not
    /// reentrant.
    ///
    /// - Returns: the outcome of the publish; `unknown` if the marker was not confirmed or did not arrive.
    func publishFirst(
        _ message: OutgoingMessage, _ publish: (OutgoingMessage) async -> PublishOutcome
    ) async -> PublishOutcome {
        let markerID = "marker-\(loop.nextRandom())"
        probe = Probe(routingKey: message.routingKey, messageID: message.messageID, markerID: markerID)
        defer { probe = nil }
        let outcome = await publish(message)
        guard outcome == .confirmed else { return outcome }
        let marker = OutgoingMessage(exchange: "", routingKey: queue.name, body: [], messageID: markerID)
        guard await publish(marker) == .confirmed, await markerArrived() else {
            return .unknown(AMQPError(.timedOut, "cannot determine whether a queue received the result"))
        }
        isRouted[message.routingKey] = probe?.hasReturned == false
        return .confirmed
    }

    private func markerArrived() async -> Bool {
        // The marker may arrive before its confirm.
        guard probe?.markerID.isEmpty == false else { return true }
        let timer = loop.schedule(after: .seconds(Self.markerSecondsMax)) { [self] in endProbe(isOver: false) }
        defer { loop.cancel(timer) }
        return await withUnsafeContinuation { probe?.waiter = $0 }
    }

    private func handle(_ message: IncomingMessage) {
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
