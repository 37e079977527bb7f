import Delivery

/// What a worker's user may do at the least: it declares nothing, publishes to its exchanges, consumes from its queues.
struct WorkerPermissions: Sendable {
    /// The default exchange's name is empty.
    let writtenExchanges: [String]
    let readQueues: [String]
    private let prefix: String
    private let takesChannelCommands: Bool

    init(_ topology: Topology) {
        let names = topology.names
        prefix = names.prefix
        takesChannelCommands = topology.takesChannelCommands
        writtenExchanges =
            [names.resultsExchange, names.deadExchange, names.quarantineQueue]
            + topology.exchanges.map(\.name).filter { $0.hasPrefix("\(names.prefix).wait.") }
            // Replies go by it.
            + (takesChannelCommands ? [""] : [])
        readQueues =
            names.requestQueues + [names.quarantineQueue] + (takesChannelCommands ? [names.channelsQueue] : [])
    }

    /// As RabbitMQ's permissions are written: a regular expression over names.
    var write: String {
        let replies = takesChannelCommands ? #"|^amq\.default$"# : ""
        return #"^\#(Topology.escaped(prefix))\.(results|dead|quarantine|wait\..*)$"# + replies
    }
    var read: String { "^(\(readQueues.map { Topology.escaped($0) }.joined(separator: "|")))$" }
}
