import AMQP
import BrokerTopology

/// The bindings from the exchange of requests to a request queue or its shards.
extension TopologyDeclarer {
    /// Applies a sharding. Stops at a step that fails. Requests then reach the same queues as before that step.
    ///
    /// - Returns: false if the queue has no shards and had no shards before. The caller then binds the queue like any
    ///   other queue.
    mutating func apply(_ sharding: Topology.Sharding) async throws(AMQPError) -> Bool {
        if !sharding.isSharded {
            guard try await exchangeExists(sharding.exchange) else { return false }
        } else if let snapshot, sharding.isDone(snapshot.bindings) {
            for binding in sharding.bindings { report(Step(subject: binding.text, result: .present)) }
            return true
        }
        for step in sharding.steps { guard try await perform(step, of: sharding) else { return true } }
        guard !sharding.isSharded else { return true }
        try await step("exchange \(sharding.exchange)") { admin throws(AMQPError) in
            try await admin.deleteUnusedExchange(sharding.exchange)
            return .deleted
        }
        return true
    }

    /// Performs one step. Returns whether the next step may follow.
    private mutating func perform(
        _ step: Topology.Sharding.Step, of sharding: Topology.Sharding
    ) async throws(AMQPError) -> Bool {
        switch step {
        case .bind(let binding):
            return try await bind(binding, isTemporary: !sharding.bindings.contains(binding))
        case .unbind(let binding):
            if let queue = binding.queue, queue != sharding.queue, try await !mayExist(queue) { return true }
            let succeeded = try await unbind(binding, isTemporary: binding == sharding.temporaryBinding)
            if succeeded, let queue = binding.queue, queue != sharding.queue {
                report(Step(subject: "queue \(queue)", result: .unused(advice.retire(shard: queue))))
            }
            return succeeded
        }
    }
}
