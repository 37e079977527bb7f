/// The depth and the number of consumers of a queue.
public struct QueueStatus: Sendable, Hashable {
    public var name: String
    /// The number of ready messages. Unacknowledged messages do not count.
    public var messages: Int
    public var consumers: Int

    public init(name: String, messages: Int, consumers: Int) {
        self.name = name
        self.messages = messages
        self.consumers = consumers
    }
}
