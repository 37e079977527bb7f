import AMQP

@testable import Delivery

/// A handler that calls a test before and after a lane handles a delivery.
final class DeliveryTap: ConsumerHandler {
    private let inner: ConsumerHandler
    private let before: (IncomingMessage) -> Void
    private let after: () -> Void

    init(_ inner: ConsumerHandler, before: @escaping (IncomingMessage) -> Void, after: @escaping () -> Void = {}) {
        (self.inner, self.before, self.after) = (inner, before, after)
    }

    override func delivered(_ message: consuming IncomingMessage) {
        let message = message
        before(message)
        inner.delivered(message)
        after()
    }

    override func channelLost() { inner.channelLost() }

    override func statusChanged(_ status: BrokerStatus) { inner.statusChanged(status) }
}
