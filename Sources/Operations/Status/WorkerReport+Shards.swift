extension WorkerReport.Queue {
    /// Shards of a queue as one: what is in all of them, how many take from the one that has the fewest consumers, and
    /// which is the fullest. They stand where the first of them stood.
    static func withShardsTogether(_ queues: [Self]) -> [Self] {
        var shown: [Self] = []
        var seen: Set<String> = []
        for queue in queues {
            guard let whole = queue.shardOf else {
                shown.append(queue)
                continue
            }
            guard seen.insert(whole).inserted else { continue }
            shown.append(together(queues.filter { $0.shardOf == whole }, of: whole))
        }
        return shown
    }

    private static func together(_ shards: [Self], of queue: String) -> Self {
        let fullest = shards.max { $0.messages < $1.messages }
        return Self(
            name: "\(queue), \(shards.count) shards", messages: shards.reduce(0) { $0 &+ $1.messages },
            consumers: shards.map(\.consumers).min() ?? 0,
            fullest: fullest.flatMap { $0.messages > 0 ? "\($0.messages) in \($0.name)" : nil })
    }
}
