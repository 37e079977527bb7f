/// The limits of a publisher.
public struct PublisherConfiguration: Sendable {
    /// Messages that are sent and not confirmed, and confirmed ones behind the oldest of them.
    public var unconfirmedMax = 4096
    /// Their bytes; a larger message goes alone.
    public var unconfirmedBytesMax = 16 << 20
    /// Messages that wait for room, for a connection, or for the end of a broker's alarm.
    public var waitingMax = 65_536
    /// Larger bodies are refused.
    public var messageBytesMax = 16 << 20
    /// How long a message may wait before it is sent.
    public var publishTimeoutSeconds = 30
    /// How long a confirm may take. The channel is replaced after twice that, or when it has confirmed nothing at all for so
    /// long: RabbitMQ 3.10 was seen to confirm no more on channels while a queue's leader was cut off from the others.
    public var confirmTimeoutSeconds = 30
    /// A channel on which the broker refuses everything for so long is opened again, and after twice as long each time, up to
    /// 32 times as long: a queue may be full. RabbitMQ 3.10 was seen to do so on channels that were opened just after the
    /// node of a queue's leader died, for as long as that was away.
    public var refusedSecondsMax = 10
    /// How long the close of a channel that is left may take; then its connection is given up, too. RabbitMQ 3.10 was seen
    /// to have a channel wait 7 s with each message for a node that was cut off, and its close for all of them.
    public var closeSecondsMax = 3

    public init() {}
}
