/// Names of the shards of request queues.
extension TopologyNames {
    /// The largest number of shards of one queue.
    public static let shardsMax = 64

    /// Returns the names of a queue's shards, such as `push.requests.0`; empty if the queue is not divided.
    public func shards(of queue: String) -> [String] {
        shardCounts[queue].map { count in (0..<count).map { shard($0, of: queue) } } ?? []
    }

    /// Returns the name of a shard.
    ///
    /// - Parameter number: 0 to ``shardsMax`` − 1.
    public func shard(_ number: Int, of queue: String) -> String { "\(queue).\(number)" }

    /// Returns the exchange that distributes requests to the shards of a queue, such as `push.requests.shards`.
    public func shardsExchange(of queue: String) -> String { "\(queue)\(Self.shardsExchangeSuffix)" }

    static let shardsExchangeSuffix = ".shards"

    /// Each request queue, followed by its shards. Workers consume all these queues, and a request returns to its
    /// queue after a wait.
    public var requestQueuesAndShards: [String] { requestQueues.flatMap { [$0] + shards(of: $0) } }

    /// The request queue of each shard.
    public var queueByShard: [String: String] {
        requestQueues.reduce(into: [:]) { found, queue in
            for shard in shards(of: queue) { found[shard] = queue }
        }
    }

    /// Returns a regular expression, without anchors, for a request queue and, if it is divided, any number of shards.
    public func pattern(of queue: String) -> String {
        Topology.escaped(queue) + (shardCounts[queue] == nil ? "" : #"(\.[0-9]+)?"#)
    }
}
