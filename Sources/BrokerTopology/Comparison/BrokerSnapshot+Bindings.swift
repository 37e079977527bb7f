import Text

/// Bindings that do not belong to the topology.
extension BrokerSnapshot {
    /// Returns the existing bindings that other configurations or versions left and that must not exist beside the
    /// bindings of this topology.
    public func staleBindings(of topology: Topology) -> [Topology.Binding] {
        let ofUndivided = topology.shardings.filter { !$0.isSharded }.flatMap(\.formerBindings)
        return (topology.formerBindings + ofUndivided).filter { bindings.contains($0) }
    }

    /// Returns bindings of request queues or exchanges of shards that this configuration does not name. Foreign
    /// bindings are obsolete or belong to other workers, which may be stopped. A queue counts as a request queue if
    /// it has the arguments of one. An exchange counts as an exchange of shards if its name ends in `.shards`.
    /// Bindings of other queues are not included.
    public func foreignBindings(of topology: Topology) -> [Topology.Binding] {
        let names = topology.names
        guard let marks = topology.queues.first(where: { $0.name == names.requestQueues[0] })?.arguments else {
            return []
        }
        let ownShards = names.requestQueues.map { names.shardsExchange(of: $0) }
        return bindings.filter { binding in
            if binding.kind == .exchange, binding.exchange == names.requestsExchange {
                let name = binding.destination
                return name.hasSuffix(TopologyNames.shardsExchangeSuffix) && !ownShards.contains(name)
            }
            guard binding.exchange == names.requestsExchange, let name = binding.queue,
                !names.requestQueues.contains(name), !topology.formerBindings.contains(binding),
                let queue = queues[name]
            else { return false }
            return marks.allSatisfy { queue.arguments[$0.name] == $0.value.plainText }
        }
    }

    /// Returns the remedy for a foreign binding.
    public func advice(onForeign binding: Topology.Binding) -> String {
        guard binding.kind == .queue else {
            return
                "the binding leads to shards of another configuration, and requests also wait in these shards; if no "
                + "worker consumes these requests, remove the binding in RabbitMQ's management UI"
        }
        guard queues[binding.destination]?.consumerCount == 0 else {
            return "workers of another configuration consume the queue"
        }
        let former = Shell.quoted("\(binding.destination)=\(binding.routingKey)")
        return
            "the bound queue belongs to another configuration and has no consumer; if no consumer will return, run "
            + "martlet topology apply --former \(former)"
    }
}
