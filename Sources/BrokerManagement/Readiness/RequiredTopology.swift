public import AMQP
public import BrokerTopology

/// The objects that a worker needs at the broker.
public struct RequiredTopology {
    /// Exchanges that receive messages from workers, directly or through a queue or another exchange.
    ///
    /// Excludes the exchanges of shards, and without device registrations the exchange of requests, because producers
    /// may publish directly to the queues. Excludes the exchanges that sort the broker's dead letters, because
    /// topologies of earlier versions lack them. Excludes the exchanges of fleet control, whose faults must not stop
    /// delivery.
    let exchanges: [String]
    /// Queues that a worker consumes, and queues without which a message from a worker would be lost.
    ///
    /// Excludes the queue of expired requests, because topologies of earlier versions lack it, and the streams of fleet
    /// control.
    let queues: [String]

    public init(_ topology: Topology) {
        let names = topology.names
        let others =
            [names.deadLetterSortExchange, names.otherDeadLettersExchange, names.controlExchange, names.fleetExchange]
            + (topology.hasRegistrations ? [] : [names.requestsExchange])
        exchanges = topology.exchanges.filter { $0.kind != .consistentHash }.map(\.name)
            .filter { !others.contains($0) }
        queues = topology.requiredQueues
    }

    /// Returns the missing objects, such as `queue push.requests`. An object that is invisible to the user counts as
    /// existing.
    ///
    /// - Throws: if the connection is lost.
    public func missing(at admin: BrokerAdmin) async throws(AMQPError) -> [String] {
        var missing: [String] = []
        for queue in queues {
            let exists = try await exists { () async throws(AMQPError) in
                _ = try await admin.status(ofQueue: queue)
                return true
            }
            if !exists { missing.append("queue \(queue)") }
        }
        for exchange in exchanges {
            let exists = try await exists { () async throws(AMQPError) in try await admin.exchangeExists(exchange) }
            if !exists { missing.append("exchange \(exchange)") }
        }
        return missing
    }

    private func exists(_ request: () async throws(AMQPError) -> Bool) async throws(AMQPError) -> Bool {
        do {
            return try await request()
        } catch {
            guard !error.isUnreachable else { throw error }
            return error.code != .notFound
        }
    }

    /// Returns a sentence that names the missing objects and the remedy.
    ///
    /// - Parameter advice: the command that declares the topology.
    public static func sentence(_ missing: [String], advice: String) -> String {
        "\(missing.joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") missing: \(advice)"
    }
}
