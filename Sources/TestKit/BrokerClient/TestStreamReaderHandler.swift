public import AMQP

/// A handler that forwards the messages and events of a stream reader to closures, which a test may replace at any
/// time.
public final class TestStreamReaderHandler: StreamReaderHandler {
    public var onPosition: () -> StreamPosition
    public var onAttached: () -> Void = {}
    public var onMessage: (consuming StreamMessage) -> Void = { _ in }
    public var onDetached: (AMQPError) -> Void = { _ in }
    public var onStatus: (BrokerStatus) -> Void = { _ in }

    public init(onPosition: @escaping () -> StreamPosition = { .next }) {
        self.onPosition = onPosition
    }

    public override func position() -> StreamPosition { onPosition() }

    public override func attached() { onAttached() }

    public override func received(_ message: consuming StreamMessage) { onMessage(message) }

    public override func detached(_ reason: AMQPError) { onDetached(reason) }

    public override func statusChanged(_ status: BrokerStatus) { onStatus(status) }
}
