import ControlProtocol

/// A row of the queue table of `martlet status`: one queue, or all shards of a queue.
struct QueueRow: Hashable {
    var name: String
    var messages: Int
    var consumers: Int
    /// The name and message count of the shard with the most messages; nil for a queue without shards, or if all
    /// shards are empty.
    var fullest: String?

    /// Returns one row per queue. The shards of a queue share a row at the position of the first shard. The shared
    /// row sums the messages of all shards and shows the consumers of the shard with the fewest consumers.
    static func rows(_ queues: [WorkerStatus.Queue]) -> [QueueRow] {
        var rows: [QueueRow] = []
        var seen: Set<String> = []
        for queue in queues {
            guard let whole = queue.shardOf else {
                rows.append(QueueRow(name: queue.name, messages: queue.messages, consumers: queue.consumers))
                continue
            }
            guard seen.insert(whole).inserted else { continue }
            rows.append(QueueRow(shards: queues.filter { $0.shardOf == whole }, of: whole))
        }
        return rows
    }
}

extension QueueRow {
    private init(shards: [WorkerStatus.Queue], of queue: String) {
        name = "\(queue), \(shards.count) shards"
        messages = shards.reduce(0) { $0 &+ $1.messages }
        consumers = shards.map(\.consumers).min() ?? 0
        fullest = shards.max { $0.messages < $1.messages }
            .flatMap { $0.messages > 0 ? "\($0.messages) in \($0.name)" : nil }
    }
}
