/// What a queue holds.
public struct QueueStatus: Sendable, Hashable {
    public var name: String
    /// Messages that are ready: not those that consumers hold.
    public var messages: Int
    public var consumers: Int

    public init(name: String, messages: Int, consumers: Int) {
        self.name = name
        self.messages = messages
        self.consumers = consumers
    }
}
