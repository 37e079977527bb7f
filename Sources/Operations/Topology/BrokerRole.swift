import Delivery

/// Somebody at the broker, and what they may do at the least: RabbitMQ's permissions, regular expressions over the names
/// of exchanges and queues.
struct BrokerRole: Sendable, Equatable {
    let user: String
    /// What they do, for whoever gives the permissions.
    let purpose: String
    var configure = BrokerRole.nothing
    var write = BrokerRole.nothing
    var read = BrokerRole.nothing

    static let nothing = "^$"
    /// The name that permissions have for the exchange without one. It leads to every queue there is.
    static let defaultExchange = #"amq\.default"#

    /// - Parameter worker: the user of the configuration.
    static func all(_ topology: Topology, worker: String) -> [BrokerRole] {
        [
            .worker(WorkerPermissions(topology), named: worker), producerOf(topology.names),
            consumerOf(topology.names), operatorOf(topology.names), declarerOf(topology.names),
        ]
    }

    static func worker(_ permissions: WorkerPermissions, named user: String) -> BrokerRole {
        BrokerRole(user: user, purpose: "a worker", write: permissions.write, read: permissions.read)
    }

    private static func producerOf(_ names: TopologyNames) -> BrokerRole {
        BrokerRole(
            user: "martlet-producer", purpose: "who publishes requests to the exchange \(names.requestsExchange)",
            write: Topology.anyOf([Topology.escaped(names.requestsExchange)]))
    }

    private static func consumerOf(_ names: TopologyNames) -> BrokerRole {
        BrokerRole(
            user: "martlet-results", purpose: "who takes results from the queue \(names.resultsQueue)",
            read: Topology.anyOf([Topology.escaped(names.resultsQueue)]))
    }

    /// A dead letter goes straight to the queue that it came from, and who watches has a queue of their own, bound to what
    /// they see.
    private static func operatorOf(_ names: TopologyNames) -> BrokerRole {
        let own = Topology.escaped(ResultsQueue.namePrefix(names)) + ".*"
        let seen = [names.deadQueue, names.resultsExchange, names.otherDeadLettersExchange]
        return BrokerRole(
            user: "martlet-operator", purpose: "martlet dead-letters, martlet watch, martlet publish --wait",
            configure: Topology.anyOf([own]),
            write: Topology.anyOf([own, Topology.escaped(names.requestsExchange), defaultExchange]),
            read: Topology.anyOf([own] + seen.map(Topology.escaped)))
    }

    /// Who declares a queue with a dead-letter exchange needs to read the queue and to write to the exchange, who binds a
    /// queue the reverse (https://www.rabbitmq.com/docs/access-control#authorisation).
    private static func declarerOf(_ names: TopologyNames) -> BrokerRole {
        let divided = names.requestQueues.filter { !names.shards(of: $0).isEmpty }
        let own =
            [Topology.escaped(names.prefix + ".") + ".*"] + names.requestQueues.map { names.pattern(of: $0) }
            + divided.map { Topology.escaped(names.shardsExchange(of: $0)) }
        return BrokerRole(
            user: "martlet-topology", purpose: "martlet topology apply", configure: Topology.anyOf(own),
            write: Topology.anyOf(own + [defaultExchange]), read: Topology.anyOf(own))
    }
}
