import Delivery

/// Compares a topology with what the broker's management shows of it.
struct TopologyComparison {
    let topology: Topology
    let picture: BrokerPicture
    let advice: TopologyAdvice

    /// In the order of the topology.
    var findings: [TopologyFinding] {
        plugin + topology.exchanges.map(finding) + topology.queues.map(finding) + topology.bindings.map(finding)
            + spareBindings
            + policies + deliveryLimits
    }

    private var plugin: [TopologyFinding] {
        guard let types = picture.exchangeTypes else { return [] }
        return topology.exchanges.contains { $0.kind == .consistentHash }
            && !types.contains(Topology.Exchange.Kind.consistentHash.rawValue) ? [.missingPlugin] : []
    }

    private func finding(_ wanted: Topology.Exchange) -> TopologyFinding {
        let subject = "exchange \(wanted.name)"
        guard let there = picture.exchanges[wanted.name] else {
            return TopologyFinding(subject: subject, state: .missing, advice: TopologyAdvice.apply)
        }
        var differences = Self.differences(Self.texts(wanted.arguments), there.arguments)
        if there.kind != wanted.kind.rawValue {
            differences.insert("it is of kind \(there.kind) instead of \(wanted.kind.rawValue)", at: 0)
        }
        guard !differences.isEmpty else { return TopologyFinding(subject: subject, state: .present) }
        return TopologyFinding(
            subject: subject, state: .differs,
            advice: "\(differences.joined(separator: ", ")); \(advice.migrate(exchange: wanted.name))")
    }

    private func finding(_ wanted: Topology.Queue) -> TopologyFinding {
        let subject = "queue \(wanted.name)"
        guard let there = picture.queues[wanted.name] else {
            return TopologyFinding(subject: subject, state: .missing, advice: TopologyAdvice.apply)
        }
        let arguments = Self.texts(wanted.arguments)
        let differences = Self.differences(arguments, withoutTurnedOffLimit(there.arguments, of: wanted.name))
        guard !differences.isEmpty else { return TopologyFinding(subject: subject, state: .present) }
        let text = differences.joined(separator: ", ")
        guard topology.isBounded(wanted.name) else {
            return TopologyFinding(
                subject: subject, state: .differs, advice: "\(text); \(advice.migrate(queue: wanted.name))")
        }
        let others = Self.differences(Self.structural(arguments), Self.structural(there.arguments))
        guard others.isEmpty else {
            return TopologyFinding(
                subject: subject, state: .differs, advice: "\(text); \(advice.migrate(queue: wanted.name))")
        }
        if Topology.boundKeys.allSatisfy({ key in there.arguments["x-\(key)"] != nil || there.policy[key] != nil }) {
            return TopologyFinding(subject: subject, state: .present, advice: "bounded otherwise: \(text)")
        }
        return TopologyFinding(
            subject: subject, state: .differs,
            advice: "\(text): it can grow without end; \(advice.bound(queue: wanted.name, topology.results))")
    }

    /// The argument that turns off the delivery limit: new queues have it, and those of earlier versions do without.
    private func withoutTurnedOffLimit(_ arguments: [String: String], of queue: String) -> [String: String] {
        guard picture.version?.limitsDeliveries == true, topology.countedQueues.contains(queue) else {
            return arguments
        }
        return arguments.filter { name, value in
            name != Topology.Queue.deliveryLimitName || (Int(value) ?? 0) >= 0
        }
    }

    private func finding(_ wanted: Topology.Binding) -> TopologyFinding {
        let isThere = picture.bindings.contains(wanted)
        return TopologyFinding(
            subject: "binding of \(wanted.text)", state: isThere ? .present : .missing,
            advice: isThere ? "" : TopologyAdvice.apply)
    }

    private var spareBindings: [TopologyFinding] {
        picture.staleBindings(of: topology).map { binding in
            TopologyFinding(
                subject: "binding of \(binding.text)", state: .differs,
                advice: "it is of another configuration or version, and leads messages where nobody takes them, or "
                    + "twice; \(TopologyAdvice.apply)")
        }
            + picture.foreignBindings(of: topology).map { binding in
                TopologyFinding(
                    subject: "binding of \(binding.text)", state: .present, advice: picture.advice(onForeign: binding))
            }
    }

    /// Needed where a queue has the broker's delivery limit; compared wherever they are there.
    private var policies: [TopologyFinding] {
        guard let version = picture.version else { return [] }
        let limited = picture.unsettledQueues(of: topology)
        return topology.policies(of: version).compactMap { policy in
            let subject = "policy \(policy.name)"
            guard picture.seesPolicies else {
                guard !limited.isEmpty else { return nil }
                return TopologyFinding(
                    subject: subject, state: .unseen,
                    advice: "policies were not seen: the user of amqp.management_url needs the tag policymaker")
            }
            guard let there = picture.policies[policy.name] else {
                guard !limited.isEmpty else { return nil }
                return TopologyFinding(
                    subject: subject, state: .missing,
                    advice: "without it RabbitMQ \(version) takes what was returned too often out of "
                        + "\(limited.joined(separator: ", ")); \(TopologyAdvice.apply)")
            }
            let differences = Self.differences(policy.raised(like: there).texts, there)
            return TopologyFinding(
                subject: subject, state: differences.isEmpty ? .present : .differs,
                advice: differences.isEmpty ? "" : "\(differences.joined(separator: ", ")); \(TopologyAdvice.apply)")
        }
    }

    /// Limits that a policy of others sets, or leaves as the broker has them. An argument that sets one is a difference of
    /// the queue.
    private var deliveryLimits: [TopologyFinding] {
        guard let version = picture.version else { return [] }
        return picture.limitedQueues(of: topology).compactMap { name in
            guard let limit = picture.deliveryLimit(of: name), let queue = picture.queues[name] else { return nil }
            switch DeliveryLimit.source(queue, version) {
            case .argument: return nil
            case .broker where !picture.isOvershadowed(queue, topology): return nil
            case .broker, .policy: break
            }
            return TopologyFinding(
                subject: "delivery limit of queue \(name)", state: .differs,
                advice: "\(limit.text(queue, version)); \(picture.limitRemedy(of: name, topology, advice))")
        } + unknownLimits
    }

    private var unknownLimits: [TopologyFinding] {
        let unknown = picture.queuesOfUnknownLimit(of: topology)
        guard !unknown.isEmpty else { return [] }
        return [
            TopologyFinding(
                subject: "delivery limit of \(unknown.joined(separator: ", "))", state: .unseen,
                advice: "\(picture.unseenLimitsText); \(picture.unseenLimitsAdvice(advice))")
        ]
    }

    private static func texts(_ arguments: [Topology.Argument]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: arguments.map { ($0.name, $0.value.plainText) })
    }

    private static func structural(_ arguments: [String: String]) -> [String: String] {
        arguments.filter { name, _ in !Topology.boundKeys.contains { name == "x-\($0)" } }
    }

    /// `x-max-length is not set instead of 5`, sorted by name.
    private static func differences(_ wanted: [String: String], _ there: [String: String]) -> [String] {
        Set(wanted.keys).union(there.keys).sorted().compactMap { name in
            guard wanted[name] != there[name] else { return nil }
            return "\(name) is \(there[name] ?? "not set") instead of \(wanted[name] ?? "not set")"
        }
    }
}

extension BrokerPicture {
    /// Bindings of other configurations that this one cannot have.
    func staleBindings(of topology: Topology) -> [Topology.Binding] {
        let ofUndivided = topology.shardings.filter { !$0.isSharded }.flatMap(\.formerBindings)
        return (topology.formerBindings + ofUndivided).filter { bindings.contains($0) }
    }

    /// Bindings of queues of requests, or of their shards, that this configuration does not name: left over, or of other
    /// workers, who may be away just now. A queue counts as one of requests by its arguments, an exchange by its name;
    /// whoever else listens is not looked at.
    func foreignBindings(of topology: Topology) -> [Topology.Binding] {
        let names = topology.names
        guard let marks = topology.queues.first(where: { $0.name == names.requestQueues[0] })?.arguments else {
            return []
        }
        let ownShards = names.requestQueues.map { names.shardsExchange(of: $0) }
        return bindings.filter { binding in
            if binding.kind == .exchange, binding.exchange == names.requestsExchange {
                let name = binding.destination
                return name.hasSuffix(names.shardsExchange(of: "")) && !ownShards.contains(name)
            }
            guard binding.exchange == names.requestsExchange, let name = binding.queue,
                !names.requestQueues.contains(name), !topology.formerBindings.contains(binding),
                let queue = queues[name]
            else { return false }
            return marks.allSatisfy { queue.arguments[$0.name] == $0.value.plainText }
        }
    }

    func advice(onForeign binding: Topology.Binding) -> String {
        guard binding.kind == .queue else {
            return "it leads to shards of another configuration; if nobody takes from them, take it away in RabbitMQ's "
                + "management, or requests wait there as well"
        }
        guard queues[binding.destination]?.consumerCount == 0 else {
            return "workers of another configuration take from it"
        }
        let former = Shell.quoted("\(binding.destination)=\(binding.routingKey)")
        return
            "it is of another configuration, and nobody takes from it just now; if nobody will, run martlet topology "
            + "apply --former \(former)"
    }
}

extension Topology {
    /// Keys of policies that bound a queue; as arguments with `x-` before them.
    static let boundKeys = ["message-ttl", "max-length"]

    /// Whether it is a queue of results that nobody takes.
    func isBounded(_ queue: String) -> Bool { queue == names.resultsQueue || queue == names.unroutedQueue }
}

extension Topology.Binding {
    /// `push.requests to push.requests by #`.
    var text: String { "\(shownDestination) to \(exchange)\(keyText)" }
}

extension Topology.Policy {
    /// What the management API has of a policy besides its definition and name.
    static let memberKeys = ["pattern", "apply-to", "priority"]

    /// As the management API's would be read.
    var texts: [String: String] {
        var texts = ["pattern": pattern, "apply-to": "queues", "priority": "\(priority)"]
        for argument in definition { texts[argument.name] = argument.value.plainText }
        return texts
    }

    /// With the priority of what is there, where an operator has raised it above another policy for the queues.
    func raised(like there: [String: String]) -> Self {
        var raised = self
        raised.priority = max(priority, there["priority"].flatMap { Int($0) } ?? priority)
        return raised
    }
}

extension Topology.Argument.Value {
    var plainText: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        }
    }
}
