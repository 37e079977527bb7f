/// A queue that a lane takes requests from.
public struct RequestQueue: Sendable, Hashable {
    public var name: String
    /// Messages of it that the lane works on at the same time: 1 to 65,535.
    public var prefetch: Int
    /// The queue whose shard it is; nil: it is one of its own.
    public var shardOf: String?

    public init(name: String, prefetch: Int, shardOf: String? = nil) {
        self.name = name
        self.prefetch = prefetch
        self.shardOf = shardOf
    }

    /// The queue and its shards, among which its prefetch is shared out: what is left over goes to the first ones, and
    /// each has at least 1, so that more are in flight only where there are more of them than the prefetch.
    public func shared(among shards: [String]) -> [RequestQueue] {
        let (share, rest) = prefetch.quotientAndRemainder(dividingBy: shards.count + 1)
        // The queue itself is there for what is left in it, so shards come first.
        let prefetches = (0...shards.count).map { max(1, share + ($0 < rest ? 1 : 0)) }
        let own = RequestQueue(name: name, prefetch: prefetches[shards.count], shardOf: shardOf)
        return [own] + zip(shards, prefetches).map { RequestQueue(name: $0, prefetch: $1, shardOf: name) }
    }
}
