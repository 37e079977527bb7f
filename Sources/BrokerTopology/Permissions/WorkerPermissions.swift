/// The least permissions of a worker's user. A worker declares nothing, publishes to its exchanges and consumes its
/// queues.
public struct WorkerPermissions: Sendable {
    /// The exchanges to which a worker publishes. The name of the default exchange is empty.
    public let writtenExchanges: [String]
    public let readQueues: [String]
    /// The write permission: a regular expression that matches `writtenExchanges`. One pattern covers all exchanges
    /// that lead to wait queues.
    public let write: String
    /// The read permission: a regular expression that matches `readQueues`. A queue and its shards share a pattern.
    public let read: String

    public init(_ topology: Topology) {
        let names = topology.names
        let repliesToCommands = !topology.fixedQueues(of: .commands).isEmpty
        let fixed =
            [names.resultsExchange, names.deadExchange, names.quarantineQueue]
            // Workers publish a request for each device of a user, and commands about refused tokens.
            + (topology.hasRegistrations ? [names.requestsExchange, names.registrationsExchange] : [])
            + (topology.hasFleetControl ? [names.fleetExchange] : [])
        writtenExchanges =
            fixed + topology.exchanges.map(\.name).filter(names.isWaitQueue)
            // Workers publish replies to the default exchange.
            + (repliesToCommands ? [""] : [])
        let patterns = (fixed + [names.waitQueuePrefix]).map {
            Topology.escaped(String($0.dropFirst(names.prefix.count + 1)))
        }
        let replies = repliesToCommands ? "|^\(BrokerPermissions.defaultExchange)$" : ""
        write = #"^\#(Topology.escaped(names.prefix))\.(\#(patterns.joined(separator: "|")).*)$"# + replies
        let others = topology.fixedQueues(of: .requests, .commands, .fleetControl)
        readQueues = names.requestQueuesAndShards + others
        read = Topology.anyOf(names.requestQueues.map { names.pattern(of: $0) } + others.map(Topology.escaped))
    }
}
