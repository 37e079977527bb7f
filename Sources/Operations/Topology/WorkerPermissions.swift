import Delivery

/// What a worker's user may do at the least: it declares nothing, publishes to its exchanges, consumes from its queues.
struct WorkerPermissions: Sendable {
    let writtenExchanges: [String]
    let readQueues: [String]
    private let prefix: String

    init(_ topology: Topology) {
        let names = topology.names
        prefix = names.prefix
        writtenExchanges =
            [names.resultsExchange, names.deadExchange, names.quarantineQueue]
            + topology.exchanges.map(\.name).filter { $0.hasPrefix("\(names.prefix).wait.") }
        readQueues = names.requestQueues + [names.quarantineQueue]
    }

    /// As RabbitMQ's permissions are written: a regular expression over names.
    var write: String { #"^\#(Topology.escaped(prefix))\.(results|dead|quarantine|wait\..*)$"# }
    var read: String { "^(\(readQueues.map { Topology.escaped($0) }.joined(separator: "|")))$" }
}
