/// A comparison of a topology with a snapshot of the broker.
public struct TopologyDiff {
    private let topology: Topology
    private let snapshot: BrokerSnapshot
    private let advice: TopologyAdvice

    public init(topology: Topology, snapshot: BrokerSnapshot, advice: TopologyAdvice) {
        self.topology = topology
        self.snapshot = snapshot
        self.advice = advice
    }

    /// The findings about the plugin, exchanges, queues, bindings, policies and delivery limits, in this order.
    public var findings: [TopologyFinding] {
        plugin + topology.exchanges.map(finding) + topology.queues.map(finding) + topology.bindings.map(finding)
            + unwantedBindings
            + policies + deliveryLimits
    }

    private var plugin: [TopologyFinding] {
        guard let types = snapshot.exchangeTypes else { return [] }
        return topology.exchanges.contains { $0.kind == .consistentHash }
            && !types.contains(Topology.Exchange.Kind.consistentHash.rawValue) ? [.missingPlugin] : []
    }

    private func finding(_ wanted: Topology.Exchange) -> TopologyFinding {
        let subject = "exchange \(wanted.name)"
        guard let found = snapshot.exchanges[wanted.name] else {
            return TopologyFinding(subject: subject, state: .missing, advice: TopologyAdvice.apply)
        }
        var differences = Self.differences(Self.texts(wanted.arguments), found.arguments)
        if found.kind != wanted.kind.rawValue {
            differences.insert("the type is \(found.kind) instead of \(wanted.kind.rawValue)", at: 0)
        }
        guard !differences.isEmpty else { return TopologyFinding(subject: subject, state: .present) }
        return TopologyFinding(
            subject: subject, state: .differs,
            advice: "\(differences.joined(separator: ", ")); \(advice.migrate(exchange: wanted.name))")
    }

    private func finding(_ wanted: Topology.Queue) -> TopologyFinding {
        let subject = "queue \(wanted.name)"
        guard let found = snapshot.queues[wanted.name] else {
            return TopologyFinding(subject: subject, state: .missing, advice: TopologyAdvice.apply)
        }
        let arguments = Self.texts(wanted.arguments)
        let differences = Self.differences(arguments, withoutTurnedOffLimit(found.arguments, of: wanted.name))
        guard !differences.isEmpty else { return TopologyFinding(subject: subject, state: .present) }
        let text = differences.joined(separator: ", ")
        guard topology.isBounded(wanted.name) else {
            return TopologyFinding(
                subject: subject, state: .differs, advice: "\(text); \(advice.migrate(wanted))")
        }
        let others = Self.differences(Self.structural(arguments), Self.structural(found.arguments))
        guard others.isEmpty else {
            return TopologyFinding(
                subject: subject, state: .differs, advice: "\(text); \(advice.migrate(wanted))")
        }
        if Topology.boundKeys.allSatisfy({ key in found.arguments["x-\(key)"] != nil || found.policy[key] != nil }) {
            return TopologyFinding(subject: subject, state: .present, advice: "bounded differently: \(text)")
        }
        return TopologyFinding(
            subject: subject, state: .differs,
            advice: "\(text): the queue lacks a bound; \(advice.bound(queue: wanted.name, topology.results))")
    }

    /// Returns the arguments of a queue. From RabbitMQ 4.0 on, omits an argument that turns off the delivery limit if
    /// the queue is unlimited in the topology. Queues of earlier versions of Martlet lack the argument.
    private func withoutTurnedOffLimit(_ arguments: [String: String], of queue: String) -> [String: String] {
        guard snapshot.version?.limitsDeliveries == true, topology.unlimitedQueues.contains(queue) else {
            return arguments
        }
        return arguments.filter { name, value in
            name != Topology.Queue.deliveryLimitName || (Int(value) ?? 0) >= 0
        }
    }

    private func finding(_ wanted: Topology.Binding) -> TopologyFinding {
        let exists = snapshot.bindings.contains(wanted)
        return TopologyFinding(
            subject: "binding of \(wanted.text)", state: exists ? .present : .missing,
            advice: exists ? "" : TopologyAdvice.apply)
    }

    private var unwantedBindings: [TopologyFinding] {
        snapshot.staleBindings(of: topology).map { binding in
            TopologyFinding(
                subject: "binding of \(binding.text)", state: .differs,
                advice:
                    "the binding belongs to another configuration or version, so that messages have no consumer or "
                    + "reach two queues; \(TopologyAdvice.apply)")
        }
            + snapshot.foreignBindings(of: topology).map { binding in
                TopologyFinding(
                    subject: "binding of \(binding.text)", state: .present, advice: snapshot.advice(onForeign: binding))
            }
    }

    /// Findings about policies. A missing or invisible policy is a finding only if a queue has a delivery limit or an
    /// unknown limit.
    private var policies: [TopologyFinding] {
        guard let version = snapshot.version else { return [] }
        let limited = snapshot.unsettledQueues(of: topology)
        return topology.policies(of: version).compactMap { policy in
            let subject = "policy \(policy.name)"
            guard snapshot.seesPolicies else {
                guard !limited.isEmpty else { return nil }
                return TopologyFinding(
                    subject: subject, state: .unseen,
                    advice: "cannot read policies: the user of amqp.management_url needs the tag policymaker")
            }
            guard let found = snapshot.policies[policy.name] else {
                guard !limited.isEmpty else { return nil }
                return TopologyFinding(
                    subject: subject, state: .missing,
                    advice: "without the policy, RabbitMQ \(version) removes messages that were requeued too often "
                        + "from \(limited.joined(separator: ", ")); \(TopologyAdvice.apply)")
            }
            let differences = Self.differences(policy.withPriority(of: found).texts, found)
            return TopologyFinding(
                subject: subject, state: differences.isEmpty ? .present : .differs,
                advice: differences.isEmpty ? "" : "\(differences.joined(separator: ", ")); \(TopologyAdvice.apply)")
        }
    }

    /// Findings about unknown limits, about limits that a policy sets, and about default limits if another policy
    /// overrides the topology's policy. A limit that an argument sets is part of the finding about the queue instead.
    private var deliveryLimits: [TopologyFinding] {
        guard let version = snapshot.version else { return [] }
        return snapshot.limitedQueues(of: topology).compactMap { name in
            guard let limit = snapshot.deliveryLimit(of: name), let queue = snapshot.queues[name] else { return nil }
            switch DeliveryLimit.source(queue, version) {
            case .argument: return nil
            case .broker where !snapshot.isOvershadowed(queue, topology): return nil
            case .broker, .policy: break
            }
            return TopologyFinding(
                subject: "delivery limit of queue \(name)", state: .differs,
                advice: "\(limit.text(queue, version)); \(snapshot.limitRemedy(of: name, topology, advice))")
        } + unknownLimits
    }

    private var unknownLimits: [TopologyFinding] {
        let unknown = snapshot.queuesOfUnknownLimit(of: topology)
        guard !unknown.isEmpty else { return [] }
        return [
            TopologyFinding(
                subject: "delivery limit of \(unknown.joined(separator: ", "))", state: .unseen,
                advice: "\(snapshot.unseenLimitsText); \(snapshot.unseenLimitsAdvice(advice))")
        ]
    }

    private static func texts(_ arguments: [Topology.Argument]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: arguments.map { ($0.name, $0.value.plainText) })
    }

    private static func structural(_ arguments: [String: String]) -> [String: String] {
        arguments.filter { name, _ in !Topology.boundKeys.contains { name == "x-\($0)" } }
    }

    /// Returns the differences sorted by name, such as `x-max-length is not set instead of 5`.
    private static func differences(_ wanted: [String: String], _ found: [String: String]) -> [String] {
        Set(wanted.keys).union(found.keys).sorted().compactMap { name in
            guard wanted[name] != found[name] else { return nil }
            return "\(name) is \(found[name] ?? "not set") instead of \(wanted[name] ?? "not set")"
        }
    }
}
