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

    /// Whether the broker refused a declaration because a bound of the existing queue differs.
    var isAboutBounds: Bool { Topology.boundKeys.contains { refusedArgument == "x-\($0)" } }

    /// Whether the broker refused a declaration because the delivery limit of the existing queue differs.
    var isAboutDeliveryLimit: Bool { refusedArgument == Topology.Queue.deliveryLimitName }
}
