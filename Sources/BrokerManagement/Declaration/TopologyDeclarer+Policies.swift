import AMQP
import BrokerTopology

/// Policies, which AMQP neither shows nor sets.
extension TopologyDeclarer {
    /// Sets the policies that the broker's version needs, after `declare`. A policy that no queue needs is not set: a queue
    /// follows one policy only, and this one would displace an operator's.
    ///
    /// - Parameter management: nil if the configuration does not name the management API.
    /// - Returns: the number of policies that are not set.
    public func setPolicies(through management: ManagementAccess?) async -> Int {
        guard let version else { return 0 }
        let limited = snapshot?.limitedQueues(of: topology, declaredWithLimit: limitedQueues) ?? limitedQueues
        var missing = 0
        for policy in topology.policies(of: version) {
            guard !limited.isEmpty || snapshot?.policies[policy.name] != nil else { continue }
            let result = await set(policy, of: version, through: management, for: limited)
            if case .failed = result { missing += 1 }
            report(Step(subject: "policy \(policy.name)", result: result))
        }
        return missing
    }

    private func set(
        _ policy: Topology.Policy, of version: BrokerVersion, through management: ManagementAccess?,
        for limited: [String]
    ) async -> Step.Result {
        let command = RabbitmqctlScript.command(policy, virtualHost: advice.virtualHost)
        guard let management, let snapshot else {
            return .failed(
                "only the management API (amqp.management_url) shows and sets it, and without it RabbitMQ \(version) takes "
                    + "what was returned \(DeliveryLimit.standard) times out of \(limited.joined(separator: ", ")): "
                    + "run \(command), then martlet topology apply --without-policies")
        }
        let existing = snapshot.policies[policy.name]
        let policy = existing.map { policy.withPriority(of: $0) } ?? policy
        if existing == policy.texts { return .present }
        if let failure = await management.set(policy) { return .failed("\(failure.message): \(command)") }
        return existing == nil ? .created : .changed
    }
}
