import Text

/// Delivery limits of the queues in a snapshot.
extension BrokerSnapshot {
    /// Returns the delivery limit of a queue. Returns nil if the queue is missing or the version is unknown. May also
    /// return nil if the snapshot lacks the effective policies.
    public func deliveryLimit(of queue: String) -> DeliveryLimit? {
        guard let version, let queue = queues[queue] else { return nil }
        let limit = DeliveryLimit(queue, version)
        let isByArgument = DeliveryLimit.source(queue, version) == .argument
        // The broker shows effective policies some seconds after a declaration, and never without statistics.
        guard showsStatistics else { return isByArgument && limit != .none ? limit : nil }
        return queue.isPolicySeen || isByArgument || limit == .none ? limit : nil
    }

    /// Returns the change that stops the broker from removing messages from the queue.
    public func limitRemedy(of name: String, _ topology: Topology, _ advice: TopologyAdvice) -> String {
        guard let version, let queue = queues[name] else { return "" }
        switch DeliveryLimit.source(queue, version) {
        case .argument: return advice.migrate(queue: name)
        case .policy where version.limitsDeliveries:
            return #"set "delivery-limit": -1 in policy \#(queue.policyNames)"#
        case .policy: return "remove delivery-limit from policy \(queue.policyNames)"
        case .broker where isOvershadowed(queue, topology):
            return
                #"set "delivery-limit": -1 in policy \#(queue.policyName), which RabbitMQ applies to the queue instead "#
                + "of \(topology.policies(of: version).map(\.name).joined(separator: ", "))"
        case .broker:
            return
                "\(TopologyAdvice.apply), which sets a policy; without the management API, print the command: martlet "
                + "topology print --format rabbitmqctl --broker \(version)"
        }
    }

    /// Returns whether another policy applies to the queue instead of the topology's policy. RabbitMQ applies the
    /// policy with the highest priority.
    func isOvershadowed(_ queue: Queue, _ topology: Topology) -> Bool {
        guard let version, !queue.policyName.isEmpty else { return false }
        return !topology.policies(of: version).contains { $0.name == queue.policyName }
    }

    /// Returns existing queues whose limit is unknown.
    public func queuesOfUnknownLimit(of topology: Topology) -> [String] {
        topology.unlimitedQueues.filter { queues[$0] != nil && deliveryLimit(of: $0) == nil }
    }

    /// Returns the remedy for unknown limits: the command that shows them without the management API.
    public func unseenLimitsAdvice(_ advice: TopologyAdvice) -> String {
        "run rabbitmqctl list_queues -p \(Shell.quoted(advice.virtualHost)) name arguments "
            + "effective_policy_definition"
    }

    public var unseenLimitsText: String {
        "the management API does not show effective policies"
            + (showsStatistics ? "" : ": the statistics are disabled (management.disable_stats)")
    }

    /// Returns the queues from which a delivery limit would remove messages.
    func limitedQueues(of topology: Topology) -> [String] {
        topology.unlimitedQueues.filter { deliveryLimit(of: $0)?.count != nil }
    }

    /// Returns the queues whose messages the broker would remove unless a policy is set. `declared` decides for a
    /// queue if the snapshot does not contain its limit.
    ///
    /// - Parameter declared: queues without the argument that turns off the limit.
    public func limitedQueues(of topology: Topology, declaredWithLimit declared: [String]) -> [String] {
        topology.unlimitedQueues.filter { name in
            guard let queue = queues[name], queue.isPolicySeen, let limit = deliveryLimit(of: name) else {
                return declared.contains(name)
            }
            return limit.count != nil
        }
    }

    /// Returns whether the limits in the snapshot may be older than a policy that is correct or invisible to the user.
    /// Returns false if statistics are disabled, because later snapshots then show no limits either.
    public func mayShowFormerLimits(of topology: Topology) -> Bool {
        guard let version, version.limitsDeliveries, showsStatistics, !unsettledQueues(of: topology).isEmpty else {
            return false
        }
        return !seesPolicies
            || topology.policies(of: version).allSatisfy { policy in
                policies[policy.name].map { $0 == policy.withPriority(of: $0).texts } ?? false
            }
    }

    /// Returns queues whose limit is unknown, or finite and possibly older than a policy.
    public func unsettledQueues(of topology: Topology) -> [String] {
        limitedQueues(of: topology) + queuesOfUnknownLimit(of: topology)
    }
}
