/// Settings that a queue can have by argument or by policy.
extension Topology {
    /// The keys of a policy that bounds a queue. The names of the equivalent arguments have the prefix `x-`.
    public static let boundKeys = ["message-ttl", "max-length"]
}

extension Topology.Policy {
    /// The members of a policy in the management API that Martlet sets in addition to the definition.
    public static let memberKeys = ["pattern", "apply-to", "priority"]

    /// The policy in the format of the management API: text by key.
    public var texts: [String: String] {
        var texts = ["pattern": pattern, "apply-to": "queues", "priority": "\(priority)"]
        for argument in definition { texts[argument.name] = argument.value.plainText }
        return texts
    }

    /// Returns the policy with at least the priority of the existing policy. An operator may have raised the priority
    /// above those of other policies.
    public func withPriority(of existing: [String: String]) -> Self {
        var raised = self
        raised.priority = max(priority, existing["priority"].flatMap { Int($0) } ?? priority)
        return raised
    }
}
