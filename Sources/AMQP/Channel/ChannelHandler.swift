public import EventLoop

/// The user of one channel: a consumer, a publisher or administration. A base class, so an event costs one virtual
/// call.
///
/// Passed to `AMQPChannel.start` and released after `closed` was reported.
public class ChannelHandler {
    public final let channel: AMQPChannel
    public final let loop: EventLoop

    init(_ channel: AMQPChannel) {
        self.channel = channel
        loop = channel.loop
    }

    /// A new channel is open. Set it up, then call `setupCompleted`.
    func opened() {}

    /// The channel is lost, with everything in flight on it.
    func lost(_ error: AMQPError) {}

    /// Handles a method on the open channel. Returns false if the method is out of order.
    func received(_ method: ServerMethod) -> Bool { false }

    /// Handles a delivery on the open channel; its content follows. Returns false if the delivery is out of order.
    func received(_ delivery: ServerMethod.Delivery) -> Bool { false }

    /// Handles the content that the last method announced. Returns false if the content is invalid.
    func received(_ content: consuming MessageContent) -> Bool { false }

    /// Sends what is due at the end of an event-loop iteration.
    ///
    /// - Parameter isLast: the channel is about to close: send everything that waits.
    func flush(isLast: Bool) {}

    func statusChanged(_ status: BrokerStatus) {}
}

extension ChannelHandler {
    public var connection: BrokerConnection { channel.connection }
    public var status: BrokerStatus { channel.status }
    /// The broker's properties: see `BrokerConnection`.
    public var serverProperties: FieldTable { connection.serverProperties }

    /// Waits until the channel is ready.
    ///
    /// Throws the last failure after `deadlineSeconds`. Throws immediately if only a change of the configuration can
    /// help, such as after a refused login or a wrong certificate.
    public func waitUntilReady(deadlineSeconds: Int) async throws(AMQPError) {
        try await channel.waitUntilReady(deadlineSeconds: deadlineSeconds)
    }

    /// Closes the channel gracefully: sends everything handed over before. Also closes the connection if this handler
    /// owns it. Returns after `deadlineSeconds` at the latest, even if the broker has not answered.
    public func close(deadlineSeconds: Int = 5) async {
        await channel.close(deadlineSeconds: deadlineSeconds)
    }
}
