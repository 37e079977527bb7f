public import JSON

extension JSONWriter {
    mutating func arguments(_ name: StaticString, _ arguments: [Topology.Argument]) {
        key(name)
        object(arguments)
    }

    mutating func object(_ arguments: [Topology.Argument]) {
        beginObject()
        for argument in arguments {
            key(argument.name)
            switch argument.value {
            case .text(let text): string(text)
            case .integer(let number): int(number)
            case .boolean(let flag): bool(flag)
            }
        }
        endObject()
    }

    /// Writes all members of a policy except its name.
    mutating func policyMembers(_ policy: Topology.Policy) {
        member("pattern", policy.pattern)
        member("apply-to", "queues")
        member("priority", policy.priority)
        arguments("definition", policy.definition)
    }

    /// Writes a policy as the body of a request to the management API.
    public mutating func policyBody(_ policy: Topology.Policy) {
        beginObject()
        policyMembers(policy)
        endObject()
    }
}
