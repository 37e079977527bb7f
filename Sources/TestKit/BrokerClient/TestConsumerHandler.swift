public import AMQP

/// A handler that forwards the deliveries and events of a consumer to closures, which a test may replace at any time.
public final class TestConsumerHandler: ConsumerHandler {
    public var onDelivery: (consuming IncomingMessage) -> Void
    public var onChannelLost: () -> Void = {}
    public var onStatus: (BrokerStatus) -> Void = { _ in }

    public init(onDelivery: @escaping (consuming IncomingMessage) -> Void = { _ in }) {
        self.onDelivery = onDelivery
    }

    public override func delivered(_ message: consuming IncomingMessage) { onDelivery(message) }

    public override func channelLost() { onChannelLost() }

    public override func statusChanged(_ status: BrokerStatus) { onStatus(status) }
}

/// A handler that forwards the events of a connection, a publisher or a `BrokerAdmin` to closures.
public final class TestSessionHandler: SessionHandler {
    public var onStatus: (BrokerStatus) -> Void
    public var onUserIDRefused: (AMQPError) -> Void = { _ in }

    public init(onStatus: @escaping (BrokerStatus) -> Void = { _ in }) {
        self.onStatus = onStatus
    }

    public override func statusChanged(_ status: BrokerStatus) { onStatus(status) }

    public override func userIDRefused(_ error: AMQPError) { onUserIDRefused(error) }
}
