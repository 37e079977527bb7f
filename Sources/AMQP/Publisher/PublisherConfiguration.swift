/// The limits of a publisher.
public struct PublisherConfiguration: Sendable {
    /// The largest number of messages from the oldest unconfirmed message to the newest message, including confirmed
    /// messages.
    public var unconfirmedMax = 4096
    /// The limit of unconfirmed bytes. A larger message is sent when no other message is unconfirmed.
    public var unconfirmedBytesMax = 16 << 20
    /// The largest number of messages that wait for room, for a connection, or for the end of an alarm at the broker.
    public var waitingMax = 65_536
    /// The largest body in bytes. The publisher refuses a larger body with `PublishRefusal.bodyTooLarge`.
    public var messageBytesMax = 16 << 20
    /// The longest time that a message waits before it is sent.
    public var publishTimeoutSeconds = 30
    /// The timeout of a confirm. The channel is replaced if the oldest confirm takes twice as long, or if no confirm or
    /// refusal arrives for this time. With RabbitMQ 3.10, channels stopped confirming while a queue's leader was
    /// disconnected from the other nodes.
    public var confirmTimeoutSeconds = 30
    /// The time after which a channel is reopened if the broker refuses every message on it. The time doubles with each
    /// reopening, up to 32 times this value, because the cause may be a full queue. With RabbitMQ 3.10, channels that
    /// were opened just after the death of a leader's node refused everything. They refused everything until the node
    /// returned.
    public var refusedSecondsMax = 10
    /// The timeout of closing a channel that is replaced. After the timeout, the connection is reset. With RabbitMQ
    /// 3.10, a channel waited 7 s per message for a disconnected node, and its close waited for all messages.
    public var closeSecondsMax = 3

    public init() {}
}
