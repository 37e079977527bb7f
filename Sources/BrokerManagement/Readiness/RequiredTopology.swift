public import AMQP
public import BrokerTopology

/// The objects that a worker needs at the broker.
public struct RequiredTopology {
    /// Exchanges to which a worker publishes, and those that follow its queues.
    ///
    /// Not the exchange of requests and its destinations: producers may publish straight to the queues. Not the exchanges that
    /// sort the broker's dead letters: topologies of earlier versions lack them.
    let exchanges: [String]
    /// Queues that a worker consumes, and those without which a message that it publishes would be lost.
    let queues: [String]

    public init(_ topology: Topology) {
        let names = topology.names
        exchanges = topology.exchanges.filter { $0.kind != .consistentHash }.map(\.name)
            .filter {
                ![names.requestsExchange, names.deadLetterSortExchange, names.otherDeadLettersExchange].contains($0)
            }
        queues = topology.requiredQueues
    }

    /// Returns the missing objects, such as `queue push.requests`. An object that this user may not see counts as existing.
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

    /// Returns a sentence for an operator.
    ///
    /// - Parameter advice: the command that declares the topology.
    public static func sentence(_ missing: [String], advice: String) -> String {
        "\(missing.joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") missing: \(advice)"
    }
}
