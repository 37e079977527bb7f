import AMQP
import BrokerTopology

/// Policies, which AMQP can neither show nor set.
extension TopologyDeclarer {
    /// Sets the policies that the broker's version needs. Call this function after `declare`. Does nothing if the
    /// version is unknown. Skips a missing policy that no queue needs. RabbitMQ applies only one policy to a queue, so
    /// an unneeded policy could displace an operator's policy.
    ///
    /// - Parameter management: nil if the configuration has no `amqp.management_url`.
    /// - Returns: the number of policies that could not be set.
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
            let reason =
                management == nil ? "amqp.management_url is not set" : "the query of the management API failed"
            return .failed(
                "cannot set the policy: \(reason). Without the policy, RabbitMQ \(version) removes messages from "
                    + "\(limited.joined(separator: ", ")) after \(DeliveryLimit.standard) requeues. Run: \(command); "
                    + "then run: martlet topology apply --without-policies")
        }
        let existing = snapshot.policies[policy.name]
        let policy = existing.map { policy.withPriority(of: $0) } ?? policy
        if existing == policy.texts { return .present }
        if let failure = await management.set(policy) { return .failed("\(failure.message); run \(command)") }
        return existing == nil ? .created : .changed
    }
}
