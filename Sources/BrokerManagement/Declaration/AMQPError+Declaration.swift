public import AMQP
import BrokerTopology

extension AMQPError {
    /// Whether the broker is unreachable; false if the broker refused the operation.
    public var isUnreachable: Bool {
        switch code {
        case .cannotConnect, .connectionLost, .timedOut, .connectionForced, .protocolViolation, .closed: true
        case .accessRefused, .notFound, .resourceLocked, .preconditionFailed, .consumerCancelled, .refused, .invalidURL:
            false
        }
    }

    /// Whether a declaration and the existing queue differ in one of the bounds.
    var isAboutBounds: Bool { Topology.boundKeys.contains { refusedArgument == "x-\($0)" } }

    /// Whether a declaration and the existing queue differ in the delivery limit.
    var isAboutDeliveryLimit: Bool { refusedArgument == Topology.Queue.deliveryLimitName }
}
