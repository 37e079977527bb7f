/// What is called after a queue of requests that is divided into shards.
extension TopologyNames {
    /// Shards of one queue.
    public static let shardsMax = 64

    /// `push.requests.0` and so on; none where the queue is not divided.
    public func shards(of queue: String) -> [String] {
        shardCounts[queue].map { count in (0..<count).map { shard($0, of: queue) } } ?? []
    }

    /// - Parameter number: counted from 0.
    public func shard(_ number: Int, of queue: String) -> String { "\(queue).\(number)" }

    /// `push.requests.shards`, the exchange that leads to the shards of a queue.
    public func shardsExchange(of queue: String) -> String { "\(queue).shards" }

    /// What workers take requests from, and what requests come back to: each queue of requests, its shards behind it.
    public var takenQueues: [String] { requestQueues.flatMap { [$0] + shards(of: $0) } }

    /// The queue of requests that each shard is of.
    public var queueByShard: [String: String] {
        requestQueues.reduce(into: [:]) { found, queue in
            for shard in shards(of: queue) { found[shard] = queue }
        }
    }

    /// A regular expression for a queue of requests and its shards, however many it may have one day.
    public func pattern(of queue: String) -> String {
        Topology.escaped(queue) + (shardCounts[queue] == nil ? "" : #"(\.[0-9]+)?"#)
    }
}
