/// A queue from which a lane consumes requests.
public struct RequestQueue: Sendable, Hashable {
    public var name: String
    /// The maximum of the queue's deliveries in flight in the lane: 1 to 65,535.
    public var prefetch: Int
    /// The queue of which this is a shard; nil if it is no shard.
    public var shardOf: String?

    public init(name: String, prefetch: Int, shardOf: String? = nil) {
        self.name = name
        self.prefetch = prefetch
        self.shardOf = shardOf
    }

    /// Returns the queue and its shards, which share its prefetch. The remainder of the division goes to the first
    /// shards. Each queue has at least 1, so the sum exceeds the prefetch only if there are more queues than the
    /// prefetch.
    public func shared(among shards: [String]) -> [RequestQueue] {
        let (share, rest) = prefetch.quotientAndRemainder(dividingBy: shards.count + 1)
        // The queue itself only drains what it still holds, so the shards get the remainder first.
        let prefetches = (0...shards.count).map { max(1, share + ($0 < rest ? 1 : 0)) }
        let own = RequestQueue(name: name, prefetch: prefetches[shards.count], shardOf: shardOf)
        return [own] + zip(shards, prefetches).map { RequestQueue(name: $0, prefetch: $1, shardOf: name) }
    }
}
