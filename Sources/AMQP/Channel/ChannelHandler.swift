public import EventLoop

/// Works on one channel: a consumer, a publisher, administration. A base class, so that an event costs one virtual call.
///
/// Passed to `AMQPChannel.start` and released once `closed` was reported.
public class ChannelHandler {
    public final let channel: AMQPChannel
    public final let loop: EventLoop

    init(_ channel: AMQPChannel) {
        self.channel = channel
        loop = channel.loop
    }

    /// The channel is open and new: set it up, then call `setupCompleted`.
    func opened() {}

    /// The channel is lost with all that was in flight on it.
    func lost(_ error: AMQPError) {}

    /// A method on the open channel; false if it must not come now.
    func received(_ method: ServerMethod) -> Bool { false }

    /// A delivery on the open channel, whose content follows; false if it must not come now.
    func received(_ delivery: ServerMethod.Delivery) -> Bool { false }

    /// The content that the last method announced; false if it must not come now.
    func received(_ content: consuming MessageContent) -> Bool { false }

    /// Sends what is due at the end of an event-loop iteration.
    ///
    /// - Parameter isLast: the channel closes; nothing may wait any longer.
    func flush(isLast: Bool) {}

    func statusChanged(_ status: BrokerStatus) {}
}

extension ChannelHandler {
    public var connection: BrokerConnection { channel.connection }
    public var status: BrokerStatus { channel.status }
    /// What the broker says it is: see `BrokerConnection`.
    public var serverProperties: FieldTable { connection.serverProperties }

    /// Waits until the channel is ready.
    ///
    /// Throws the last failure when that takes longer than `deadlineSeconds`, and at once when only a change of the
    /// configuration can help: a refused login, a wrong certificate.
    public func waitUntilReady(deadlineSeconds: Int) async throws(AMQPError) {
        try await channel.waitUntilReady(deadlineSeconds: deadlineSeconds)
    }

    /// Closes the channel, or with it the connection that was made for it, in order: what was handed over before is still
    /// sent. Returns after `deadlineSeconds` even if the broker has not answered.
    public func close(deadlineSeconds: Int = 5) async {
        await channel.close(deadlineSeconds: deadlineSeconds)
    }
}
