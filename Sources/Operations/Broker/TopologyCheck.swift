import AMQP
import Delivery

/// What a worker needs at the broker, and whether it is there.
struct TopologyCheck {
    /// Exchanges that a worker publishes to, and those that lead on from its queues.
    ///
    /// Not the exchange of requests, nor what it leads to: producers may publish straight to the queues. Nor what the
    /// broker sorts its dead letters with, which topologies of earlier versions lack.
    let exchanges: [String]
    /// Queues that a worker consumes from, and those without which a message that it publishes would lead nowhere.
    ///
    /// Not the queue of results: whoever binds a queue of their own for them may do without. Nor that of what expired.
    let queues: [String]

    init(_ topology: Topology) {
        let names = topology.names
        exchanges = topology.exchanges.filter { $0.kind != .consistentHash }.map(\.name)
            .filter {
                ![names.requestsExchange, names.deadLetterSortExchange, names.otherDeadLettersExchange].contains($0)
            }
        queues = topology.queues.map(\.name).filter { ![names.resultsQueue, names.expiredQueue].contains($0) }
    }

    /// `queue push.requests` and so on, for all that is missing; what this user may not look at is taken to be there.
    ///
    /// - Throws: when the connection is lost.
    func missing(at admin: BrokerAdmin) async throws(AMQPError) -> [String] {
        var missing: [String] = []
        for queue in queues {
            let isThere = try await isThere { () async throws(AMQPError) in
                _ = try await admin.status(ofQueue: queue)
                return true
            }
            if !isThere { missing.append("queue \(queue)") }
        }
        for exchange in exchanges {
            let isThere = try await isThere { () async throws(AMQPError) in try await admin.exchangeExists(exchange) }
            if !isThere { missing.append("exchange \(exchange)") }
        }
        return missing
    }

    private func isThere(_ look: () async throws(AMQPError) -> Bool) async throws(AMQPError) -> Bool {
        do {
            return try await look()
        } catch {
            guard !error.isUnreachable else { throw error }
            return error.code != .notFound
        }
    }
}
