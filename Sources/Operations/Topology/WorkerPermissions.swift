import Delivery

/// What a worker's user may do at the least: it declares nothing, publishes to its exchanges, consumes from its queues.
struct WorkerPermissions: Sendable {
    /// The default exchange's name is empty.
    let writtenExchanges: [String]
    let readQueues: [String]
    /// Of `readQueues`; a queue and its shards have one.
    private let readPatterns: [String]
    private let prefix: String
    private let takesChannelCommands: Bool

    init(_ topology: Topology) {
        let names = topology.names
        prefix = names.prefix
        takesChannelCommands = topology.takesChannelCommands
        writtenExchanges =
            [names.resultsExchange, names.deadExchange, names.quarantineQueue]
            + topology.exchanges.map(\.name).filter(names.isWaitQueue)
            // Replies go by it.
            + (takesChannelCommands ? [""] : [])
        let besides = [names.quarantineQueue, names.expiredQueue] + (takesChannelCommands ? [names.channelsQueue] : [])
        readQueues = names.takenQueues + besides
        readPatterns = names.requestQueues.map { names.pattern(of: $0) } + besides.map(Topology.escaped)
    }

    /// As RabbitMQ's permissions are written: a regular expression over names.
    var write: String {
        let replies = takesChannelCommands ? "|^\(BrokerRole.defaultExchange)$" : ""
        return #"^\#(Topology.escaped(prefix))\.(results|dead|quarantine|wait\..*)$"# + replies
    }
    var read: String { Topology.anyOf(readPatterns) }
}
