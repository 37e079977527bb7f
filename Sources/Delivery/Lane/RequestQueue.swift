import BrokerTopology

/// A queue from which a lane consumes requests.
public struct RequestQueue: Sendable, Hashable {
    public var name: String
    /// The maximum number of deliveries from this queue that are in flight in the lane: 1 to 65,535.
    public var prefetch: Int
    /// The name of the queue of which this queue is a shard; nil if this queue is not a shard.
    public var shardOf: String?
    /// The key with which the exchange of requests routes a request to this queue, or to the shards of its queue.
    public var routingKey: String

    /// Creates a queue.
    ///
    /// - Parameter routingKey: nil for the default key: the last word of `shardOf`, or of `name` if `shardOf` is nil.
    public init(name: String, prefetch: Int, shardOf: String? = nil, routingKey: String? = nil) {
        self.name = name
        self.prefetch = prefetch
        self.shardOf = shardOf
        self.routingKey = routingKey ?? Topology.lastWord(of: shardOf ?? name)
    }

    /// Returns the queue and its shards, which share its prefetch. The first shards receive the remainder of the
    /// division. Each queue has a prefetch of at least 1. The sum therefore exceeds a prefetch that is smaller than the
    /// number of queues.
    public func shared(among shards: [String]) -> [RequestQueue] {
        let (share, rest) = prefetch.quotientAndRemainder(dividingBy: shards.count + 1)
        // With shards, the queue itself receives few new requests, so only shards get the remainder.
        let prefetches = (0...shards.count).map { max(1, share + ($0 < rest ? 1 : 0)) }
        let own = RequestQueue(
            name: name, prefetch: prefetches[shards.count], shardOf: shardOf, routingKey: routingKey)
        return [own]
            + zip(shards, prefetches).map {
                RequestQueue(name: $0, prefetch: $1, shardOf: name, routingKey: routingKey)
            }
    }
}
