/// The least permissions of a worker's user. A worker declares nothing, publishes to its exchanges and consumes its
/// queues.
public struct WorkerPermissions: Sendable {
    /// The exchanges to which a worker publishes. The name of the default exchange is empty.
    public let writtenExchanges: [String]
    public let readQueues: [String]
    /// Patterns of `readQueues`; a queue and its shards share one.
    private let readPatterns: [String]
    private let prefix: String
    private let repliesToCommands: Bool

    public init(_ topology: Topology) {
        let names = topology.names
        prefix = names.prefix
        repliesToCommands = !topology.fixedQueues(of: .commands).isEmpty
        writtenExchanges =
            [names.resultsExchange, names.deadExchange, names.quarantineQueue]
            + topology.exchanges.map(\.name).filter(names.isWaitQueue)
            // For replies.
            + (repliesToCommands ? [""] : [])
        let others = topology.fixedQueues(of: .requests, .commands)
        readQueues = names.requestQueuesAndShards + others
        readPatterns = names.requestQueues.map { names.pattern(of: $0) } + others.map(Topology.escaped)
    }

    /// The write permission: a regular expression that matches names.
    public var write: String {
        let replies = repliesToCommands ? "|^\(BrokerPermissions.defaultExchange)$" : ""
        let waits = Topology.escaped("\(TopologyNames.waitWord).") + ".*"
        return #"^\#(Topology.escaped(prefix))\.(results|dead|quarantine|\#(waits))$"# + replies
    }
    public var read: String { Topology.anyOf(readPatterns) }
}
