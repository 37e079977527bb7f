public import AMQP
public import BrokerTopology

/// The depths, consumers and limits of the queues on which delivery depends. Faults are queues whose requests or
/// commands have no consumer, and full queues that refuse messages.
public struct QueueConditions: Sendable {
    /// A condition that stops delivery at one queue.
    public struct Fault: Equatable, Sendable {
        public let queue: String
        public let text: String
        public let remedy: String
    }

    public let topology: Topology
    /// Depths and consumers, read over AMQP, which shows them without the delay of the management API. Queues that
    /// are missing or invisible to the user are not included.
    public var statuses: [QueueStatus]
    /// A snapshot with the limits of the queues, or the failure to read it; nil if the configuration has no
    /// `amqp.management_url`.
    public var management: Result<BrokerSnapshot, ManagementClient.Failure>?
    public let advice: TopologyAdvice

    public init(
        topology: Topology, statuses: [QueueStatus],
        management: Result<BrokerSnapshot, ManagementClient.Failure>? = nil,
        advice: TopologyAdvice = TopologyAdvice(virtualHost: "/")
    ) {
        self.topology = topology
        self.statuses = statuses
        self.management = management
        self.advice = advice
    }

    private var snapshot: BrokerSnapshot? { management.flatMap { try? $0.get() } }

    public var faults: [Fault] { unconsumed + full }

    /// Returns the status of a queue; nil if the queue is missing or invisible to the user.
    public func status(of queue: String) -> QueueStatus? { statuses.first { $0.name == queue } }

    private var unconsumed: [Fault] {
        unconsumed(topology.queuesOfRequests, of: "request") + unconsumed(topology.queuesOfCommands, of: "command")
    }

    private func unconsumed(_ queues: [String], of message: String) -> [Fault] {
        queues.compactMap { queue in
            guard let status = status(of: queue), status.messages > 0, status.consumers == 0 else { return nil }
            let wait = status.messages == 1 ? "1 \(message) waits" : "\(status.messages) \(message)s wait"
            return Fault(
                queue: queue, text: "\(wait) and no worker consumes",
                remedy: "start a worker: martlet worker; if a worker runs, show its status: martlet status")
        }
    }

    private var full: [Fault] {
        statuses.compactMap { status in
            guard let queue = snapshot?.queues[status.name], queue.rejectsPublishes else { return nil }
            let reached = [
                queue.limit("max-length").flatMap { status.messages >= $0 ? ("max-length", $0) : nil },
                queue.limit("max-length-bytes").flatMap { queue.readyBytes >= $0 ? ("max-length-bytes", $0) : nil },
            ].compactMap(\.self)
            guard !reached.isEmpty else { return nil }
            let limits = reached.map { "\($0.0) \($0.1)" }
            let policy = queue.policyNames.isEmpty ? "" : ", policy \(queue.policyNames)"
            return Fault(
                queue: status.name,
                text: "full (\(status.messages) ready, \(limits.joined(separator: ", "))\(policy)) and refuses more "
                    + "messages: \(effect(of: status.name))",
                remedy: "consume from \(status.name), or \(change(of: status.name, queue, reached.map(\.0)))")
        }
    }

    /// Returns the change that ends the refusals. A policy can neither raise a limit nor change an overflow
    /// behavior that an argument sets.
    private func change(of name: String, _ queue: BrokerSnapshot.Queue, _ reached: [String]) -> String {
        let ofPolicy = "policy \(queue.policyNames)"
        if reached.allSatisfy({ !queue.isLimitedByArgument($0) }) {
            return "raise \(reached.joined(separator: " and ")) in \(ofPolicy)"
        }
        if queue.arguments["x-overflow"] == nil { return "set overflow to drop-head in \(ofPolicy)" }
        let deletion = advice.deletion(ofQueue: name)
        return "once the queue is empty, run \(deletion), then declare the queue again with other arguments"
    }

    /// Returns the effect of a refusal by the queue.
    private func effect(of queue: String) -> String {
        let names = topology.names
        if names.requestQueuesAndShards.contains(queue) { return "requests cannot be published" }
        let exchanges = snapshot?.bindings.filter { $0.queue == queue }.map(\.exchange) ?? []
        if exchanges.contains(names.resultsExchange) || exchanges.contains(names.unroutedExchange) {
            return "results cannot be published, and workers stop consuming"
        }
        return "workers cannot publish to the queue, and stop consuming"
    }
}

extension BrokerSnapshot.Queue {
    fileprivate var rejectsPublishes: Bool {
        (arguments["x-overflow"] ?? policy["overflow"])?.hasPrefix("reject-publish") ?? false
    }

    /// Returns the lower of the limits that the argument and the policies set; nil if neither sets a limit. RabbitMQ
    /// applies the lower limit.
    fileprivate func limit(_ key: String) -> Int? {
        [arguments["x-\(key)"], policy[key]].compactMap { $0.flatMap { Int($0) } }.min()
    }

    fileprivate func isLimitedByArgument(_ key: String) -> Bool {
        arguments["x-\(key)"].flatMap { Int($0) }.map { $0 == limit(key) } ?? false
    }
}
