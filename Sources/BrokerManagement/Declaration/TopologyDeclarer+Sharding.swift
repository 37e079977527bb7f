import AMQP
import BrokerTopology

/// The bindings from the exchange of requests to a request queue or its shards.
extension TopologyDeclarer {
    /// Returns the stale bindings that may lead requests to a queue at present.
    func staleBindingsOfRequests(in stale: [Topology.Binding]) async throws(AMQPError) -> [Topology.Binding] {
        var found: [Topology.Binding] = []
        for binding in stale
        where binding.exchange == topology.names.requestsExchange && !topology.bindings.contains(binding) {
            guard snapshot?.bindings.contains(binding) ?? true, try await mayExist(binding) else { continue }
            found.append(binding)
        }
        return found
    }

    /// Binds the request queues and their shards. If stale bindings exist, binds either all of the queues or none.
    /// Without a stale binding, a request of an unbound queue would be lost. Beside a stale binding, a request of a
    /// bound queue would reach two queues.
    ///
    /// - Parameter stale: the bindings that the caller then removes.
    /// - Returns: false if stale bindings exist and must stay, because an earlier step or a binding failed.
    mutating func bindRequests(replacing stale: [Topology.Binding]) async throws(AMQPError) -> Bool {
        guard failures == 0 || stale.isEmpty else { return false }
        // Apply shardings before other bindings. The order of the steps of a sharding ensures that each request
        // reaches exactly one queue.
        var bound: [Topology.Binding] = []
        for sharding in topology.shardings where try await apply(sharding) { bound += sharding.bindings }
        var added: [Topology.Binding] = []
        for binding in topology.shardings.flatMap(\.bindings) where !bound.contains(binding) {
            if try await bind(binding), isNew(binding) { added.append(binding) }
        }
        guard failures > 0, !stale.isEmpty else { return true }
        for binding in added { try await unbind(binding) }
        return false
    }

    /// Returns whether the binding certainly did not exist before the declaration.
    private func isNew(_ binding: Topology.Binding) -> Bool {
        if let snapshot { return !snapshot.bindings.contains(binding) }
        return binding.queue.map { newQueues.contains($0) } ?? false
    }

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
