/// The least permissions of a worker's user. A worker declares nothing, publishes to its exchanges and consumes its
/// queues.
public struct WorkerPermissions: Sendable {
    /// The exchanges to which a worker publishes. The name of the default exchange is empty.
    public let writtenExchanges: [String]
    public let readQueues: [String]
    /// Patterns of `readQueues`; a queue and its shards share one.
    private let readPatterns: [String]
    /// Patterns of `writtenExchanges` without their prefix. One covers all exchanges that lead to wait queues.
    private let writePatterns: [String]
    private let prefix: String
    private let repliesToCommands: Bool

    public init(_ topology: Topology) {
        let names = topology.names
        let prefix = names.prefix
        self.prefix = prefix
        repliesToCommands = !topology.fixedQueues(of: .commands).isEmpty
        let fixed = [names.resultsExchange, names.deadExchange, names.quarantineQueue]
        writePatterns =
            (fixed + [names.waitQueuePrefix]).map { Topology.escaped(String($0.dropFirst(prefix.count + 1))) }
        writtenExchanges =
            fixed + topology.exchanges.map(\.name).filter(names.isWaitQueue)
            // For replies.
            + (repliesToCommands ? [""] : [])
        let others = topology.fixedQueues(of: .requests, .commands)
        readQueues = names.requestQueuesAndShards + others
        readPatterns = names.requestQueues.map { names.pattern(of: $0) } + others.map(Topology.escaped)
    }

    /// The write permission: a regular expression that matches names.
    public var write: String {
        let replies = repliesToCommands ? "|^\(BrokerPermissions.defaultExchange)$" : ""
        return #"^\#(Topology.escaped(prefix))\.(\#(writePatterns.joined(separator: "|")).*)$"# + replies
    }
    public var read: String { Topology.anyOf(readPatterns) }
}
