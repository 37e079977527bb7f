public import EventLoop

/// The base class of the objects that use a channel, such as `Consumer`, `Publisher` and `BrokerAdmin`. Each event
/// costs one virtual call.
///
/// The channel retains its handler from `AMQPChannel.start` until the channel has reported the status `closed`.
public class ChannelHandler {
    public final let channel: AMQPChannel
    public final let loop: EventLoop

    init(_ channel: AMQPChannel) {
        self.channel = channel
        loop = channel.loop
    }

    /// Sets up a channel that has opened. The handler calls `setupCompleted` at the end of the setup.
    func opened() {}

    /// Handles the loss of the channel and of everything in flight on the channel.
    func lost(_ error: AMQPError) {}

    /// Handles a method on the open channel. Returns false if the method is out of order.
    func received(_ method: ServerMethod) -> Bool { false }

    /// Handles a delivery on the open channel. The content of the delivery follows. Returns false if the delivery is
    /// out of order.
    func received(_ delivery: ServerMethod.Delivery) -> Bool { false }

    /// Handles the content that the last method announced. Returns false if the content is invalid.
    func received(_ content: consuming MessageContent) -> Bool { false }

    /// Sends all due methods at the end of an event-loop iteration.
    ///
    /// - Parameter isLast: whether the channel is about to close. The handler then also sends methods that are not due
    ///   yet.
    func flush(isLast: Bool) {}

    func statusChanged(_ status: BrokerStatus) {}
}

extension ChannelHandler {
    public var connection: BrokerConnection { channel.connection }
    public var status: BrokerStatus { channel.status }
    /// The broker's properties (see `BrokerConnection`).
    public var serverProperties: FieldTable { connection.serverProperties }

    /// Waits until the status is `ready` or `blocked`.
    ///
    /// After `deadlineSeconds`, throws the failure after which the channel or its connection waits to retry, or
    /// `timedOut` if neither waits. Throws immediately if the channel is closed. Also throws immediately if only a
    /// change of the configuration can help, such as after a refused login or a wrong certificate.
    public func waitUntilReady(deadlineSeconds: Int) async throws(AMQPError) {
        try await channel.waitUntilReady(deadlineSeconds: deadlineSeconds)
    }

    /// Sends all pending output, then closes the channel. Also closes the connection if this handler owns the
    /// connection. Returns after `deadlineSeconds` at the latest, even if the broker has not answered.
    public func close(deadlineSeconds: Int = 5) async {
        await channel.close(deadlineSeconds: deadlineSeconds)
    }
}
