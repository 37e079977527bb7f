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

    /// Requests go to their queue through the default exchange, results through their own. `martlet watch` and `martlet
    /// unrouted replay` bind a queue of their own to an exchange, which takes the right to read the exchange.
    private static func operatorOf(_ names: TopologyNames) -> BrokerRole {
        let own = Topology.escaped(ResultsQueue.namePrefix(names)) + ".*"
        let waits = Topology.escaped("\(names.prefix).wait.") + ".*"
        let written = [names.requestsExchange, names.resultsExchange, names.unroutedExchange]
        let read = [names.deadQueue, names.resultsExchange, names.otherDeadLettersExchange, names.unroutedQueue]
        return BrokerRole(
            user: "martlet-operator",
            purpose: "martlet dead-letters, waits, unrouted and watch, martlet publish --wait",
            configure: Topology.anyOf([own]),
            write: Topology.anyOf([own] + written.map(Topology.escaped) + [defaultExchange]),
            read: Topology.anyOf([own] + read.map(Topology.escaped) + [waits]))
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
