import AMQP
import Telemetry

/// A handler that forwards the events of one consumer to the pipeline.
final class ConsumerEvents: ConsumerHandler {
    private let source: Int
    private let pipeline: DeliveryPipeline
    /// Whether lost channels are reported. false once the broker has applied every acknowledgment and requeue, since a
    /// lost channel then causes no redelivery.
    var reportsLostChannels = true

    init(of source: Int, in pipeline: DeliveryPipeline) { (self.source, self.pipeline) = (source, pipeline) }

    override func delivered(_ message: consuming IncomingMessage) { pipeline.delivered(message, from: source) }

    override func channelLost() {
        if reportsLostChannels { pipeline.channelLost(source) }
    }

    override func statusChanged(_ status: BrokerStatus) {
        pipeline.sessionStatusChanged(status, .consume, isConnection: false)
    }
}

/// A handler that forwards the events of one connection, or of the publisher, to the pipeline.
final class SessionEvents: SessionHandler {
    private let purpose: BrokerSession.Purpose
    private let isConnection: Bool
    private let pipeline: DeliveryPipeline

    init(_ purpose: BrokerSession.Purpose, isConnection: Bool, in pipeline: DeliveryPipeline) {
        (self.purpose, self.isConnection, self.pipeline) = (purpose, isConnection, pipeline)
    }

    override func statusChanged(_ status: BrokerStatus) {
        pipeline.sessionStatusChanged(status, purpose, isConnection: isConnection)
    }

    override func userIDRefused(_ error: AMQPError) {
        pipeline.log.warning(.userIDRefused, [.error: .string("\(error)")])
    }
}
