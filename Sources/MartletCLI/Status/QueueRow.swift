import ControlProtocol

/// A queue, or the shards of a queue, as `martlet status` shows them.
struct QueueRow: Hashable {
    var name: String
    var messages: Int
    var consumers: Int
    /// Of shards: the one with the most messages, and their number.
    var fullest: String?

    /// Shards of a queue are one row, where the first of them was: with the messages of all shards, and the consumers
    /// of the shard that has the fewest.
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
