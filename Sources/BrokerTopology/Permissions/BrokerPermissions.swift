/// The least permissions of a user at the broker. RabbitMQ's permissions are regular expressions that match the names
/// of exchanges and queues.
public struct BrokerPermissions: Sendable, Equatable {
    public let user: String
    /// The purpose of the user, for the administrator who sets the permissions.
    public let purpose: String
    public private(set) var configure = BrokerPermissions.nothing
    public private(set) var write = BrokerPermissions.nothing
    public private(set) var read = BrokerPermissions.nothing
    /// Restrictions of `write` and `read` to routing keys.
    public private(set) var topics: [TopicPermission] = []

    static let nothing = "^$"
    /// A pattern of the default exchange's name in permissions. The default exchange leads to every queue.
    static let defaultExchange = #"amq\.default"#

    /// Returns the permissions of every user that Martlet needs.
    ///
    /// - Parameter worker: the user of the configuration.
    public static func all(_ topology: Topology, worker: String) -> [BrokerPermissions] {
        [
            .worker(WorkerPermissions(topology), user: worker), producer(topology.names), consumer(topology.names),
            commands(topology), declarer(topology.names),
        ] + (topology.hasRegistrations ? [registrar(topology.names)] : [])
            + (topology.hasFleetControl ? [viewer(topology)] : [])
    }

    public static func worker(_ permissions: WorkerPermissions, user: String) -> BrokerPermissions {
        BrokerPermissions(user: user, purpose: "workers", write: permissions.write, read: permissions.read)
    }

    private static func producer(_ names: TopologyNames) -> BrokerPermissions {
        BrokerPermissions(
            user: "martlet-producer", purpose: "producers of requests to the exchange \(names.requestsExchange)",
            write: Topology.anyOf([Topology.escaped(names.requestsExchange)]))
    }

    /// Returns the permissions of a client that registers devices. Producers of requests do not have these permissions,
    /// because a client that may register devices can redirect a user's notifications.
    private static func registrar(_ names: TopologyNames) -> BrokerPermissions {
        BrokerPermissions(
            user: "martlet-registrar",
            purpose: "producers of commands about device registrations to the exchange \(names.registrationsExchange)",
            write: Topology.anyOf([Topology.escaped(names.registrationsExchange)]))
    }

    private static func consumer(_ names: TopologyNames) -> BrokerPermissions {
        BrokerPermissions(
            user: "martlet-results", purpose: "consumers of results in the queue \(names.resultsQueue)",
            read: Topology.anyOf([Topology.escaped(names.resultsQueue)]))
    }

    /// Returns the permissions of an operator's commands. Commands return requests to their queue through the default
    /// exchange, and unrouted results to their queue through the exchange for unrouted results. `martlet watch` and
    /// `martlet unrouted replay` bind their own queue to an exchange, which requires read permission for the exchange.
    /// With fleet control, commands also declare exclusive queues as locks and publish to the exchange of operators.
    /// They also bind their own queue to the exchange of workers.
    private static func commands(_ topology: Topology) -> BrokerPermissions {
        let names = topology.names
        let own =
            [Topology.escaped(names.watchQueuePrefix) + ".*"]
            + (topology.hasFleetControl ? [Topology.escaped(names.lockPrefix) + ".*"] : [])
        let waits = Topology.escaped(names.waitQueuePrefix) + ".*"
        let written =
            [names.requestsExchange, names.resultsExchange, names.unroutedExchange]
            + (topology.hasFleetControl ? [names.controlExchange] : [])
        let read =
            topology.fixedQueues(of: .deadLetters) + [names.resultsExchange, names.otherDeadLettersExchange]
            + topology.fixedQueues(of: .unroutedResults) + reportsAndStreams(topology)
        return BrokerPermissions(
            user: "martlet-operator",
            purpose: "martlet dead-letters, waits, unrouted and watch, martlet publish --wait"
                + (topology.hasFleetControl ? ", fleet control" : ""),
            configure: Topology.anyOf(own),
            write: Topology.anyOf(own + written.map(Topology.escaped) + [defaultExchange]),
            read: Topology.anyOf(own + read.map(Topology.escaped) + [waits]))
    }

    /// Returns the permissions of a user that observes the fleet. The user may publish records of the audit, but
    /// neither pauses nor commands.
    private static func viewer(_ topology: Topology) -> BrokerPermissions {
        let names = topology.names
        let own = Topology.escaped(names.watchQueuePrefix) + ".*"
        return BrokerPermissions(
            user: "martlet-viewer", purpose: "observers of the fleet", configure: Topology.anyOf([own]),
            write: Topology.anyOf([own, Topology.escaped(names.controlExchange)]),
            read: Topology.anyOf([own] + reportsAndStreams(topology).map(Topology.escaped)),
            topics: [TopicPermission(exchange: names.controlExchange, write: #"^audit\."#, read: nothing)])
    }

    /// The exchange of workers' reports, and the streams of fleet control and of the journal; empty without fleet
    /// control.
    private static func reportsAndStreams(_ topology: Topology) -> [String] {
        let streams = topology.fixedQueues(of: .fleetControl, .journal)
        return topology.hasFleetControl ? [topology.names.fleetExchange] + streams : []
    }

    /// Returns the permissions of `martlet topology apply`. A user that declares a queue with a dead-letter exchange
    /// needs read permission for the queue and write permission for the exchange. A user that binds a queue needs
    /// write permission for the queue and read permission for the exchange
    /// (https://www.rabbitmq.com/docs/access-control#authorisation).
    private static func declarer(_ names: TopologyNames) -> BrokerPermissions {
        let divided = names.requestQueues.filter { !names.shards(of: $0).isEmpty }
        let own =
            [Topology.escaped(names.prefix + ".") + ".*"] + names.requestQueues.map { names.pattern(of: $0) }
            + divided.map { Topology.escaped(names.shardsExchange(of: $0)) }
        return BrokerPermissions(
            user: "martlet-topology", purpose: "martlet topology apply", configure: Topology.anyOf(own),
            write: Topology.anyOf(own + [defaultExchange]), read: Topology.anyOf(own))
    }
}
