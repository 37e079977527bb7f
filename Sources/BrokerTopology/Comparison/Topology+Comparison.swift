/// A topology's objects in the form of a ``BrokerSnapshot``.
extension Topology {
    /// Keys of policies that bound a queue. The arguments have an `x-` before them.
    public static let boundKeys = ["message-ttl", "max-length"]
}

extension Topology.Policy {
    /// What the management API has of a policy besides its definition and name.
    public static let memberKeys = ["pattern", "apply-to", "priority"]

    /// The policy as it is read from the management API.
    public var texts: [String: String] {
        var texts = ["pattern": pattern, "apply-to": "queues", "priority": "\(priority)"]
        for argument in definition { texts[argument.name] = argument.value.plainText }
        return texts
    }

    /// Returns the policy with the priority of an existing one, if an operator has raised that above other policies.
    public func withPriority(of existing: [String: String]) -> Self {
        var raised = self
        raised.priority = max(priority, existing["priority"].flatMap { Int($0) } ?? priority)
        return raised
    }
}
