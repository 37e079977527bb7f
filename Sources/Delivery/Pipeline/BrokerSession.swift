import AMQP
import EventLoop
import Telemetry

/// The lane's two connections to the broker. One connection consumes, and the other publishes.
///
/// Loop-bound.
final class BrokerSession {
    /// The purpose of a connection of the lane.
    enum Purpose: String { case consume, publish }

    /// The ability of the lane to consume or to publish.
    enum Status: Equatable {
        case starting
        case up
        /// A failure, with its reason. The lane keeps this status while it reconnects.
        case down(reason: String)
    }

    private let loop: EventLoop
    private let log: Log
    private let metrics: LaneMetrics
    private let configuration: LaneConfiguration
    let consuming: BrokerConnection
    let publishing: BrokerConnection
    /// The consumers of the request queues by descending priority, then of the quarantine, then of expired requests.
    let consumers: [Consumer]
    /// The handlers of the consumers, from `start` to `close`.
    private var consumerEvents: [ConsumerEvents] = []
    let publisher: Publisher
    private(set) var consumption = Status.starting
    private(set) var publication = Status.starting
    private var outages: BrokerOutageLog

    init(_ context: LaneContext, _ metrics: LaneMetrics) {
        let (loop, configuration) = (context.loop, context.configuration)
        (self.loop, log, self.metrics, self.configuration) = (loop, context.log, metrics, configuration)
        let consuming = BrokerConnection(
            loop: loop, connectors: context.connectors.consumer, configuration: configuration.broker(for: .consume))
        self.consuming = consuming
        publishing = BrokerConnection(
            loop: loop, connectors: context.connectors.publisher, configuration: configuration.broker(for: .publish))
        consumers = configuration.consumers.map { Consumer(on: consuming, configuration: $0) }
        publisher = Publisher(on: publishing, configuration: configuration.publisher)
        outages = BrokerOutageLog(
            queues: configuration.consumers.map(\.queue), completeRemedy: configuration.completeRemedy)
    }

    /// Connects and starts to consume. Reports deliveries and status changes to the pipeline until the connections are
    /// closed.
    func start(for pipeline: DeliveryPipeline) {
        publishing.start(SessionEvents(.publish, isConnection: true, in: pipeline))
        publisher.start(SessionEvents(.publish, isConnection: false, in: pipeline))
        consuming.start(SessionEvents(.consume, isConnection: true, in: pipeline))
        consumerEvents = consumers.indices.map { ConsumerEvents(of: $0, in: pipeline) }
        for (consumer, events) in zip(consumers, consumerEvents) { consumer.start(events) }
    }

    func role(of record: DeliveryRecord) -> LaneConfiguration.QueueRole {
        configuration.role(ofConsumer: record.source)
    }

    /// Returns whether the delivery is unacknowledged and its channel open. If the channel was lost, the broker
    /// redelivers the request.
    func holds(_ record: DeliveryRecord) -> Bool { consumers[record.source].holds(record.delivery.tag) }

    func acknowledge(_ record: DeliveryRecord) { consumers[record.source].acknowledge(record.delivery.tag) }

    func requeue(_ record: DeliveryRecord) { consumers[record.source].requeue(record.delivery.tag) }

    /// Rejects the delivery without requeue. The broker dead-letters the request.
    func reject(_ record: DeliveryRecord) { consumers[record.source].reject(record.delivery.tag, requeue: false) }

    var unsettledCount: Int { consumers.reduce(0) { $0 + $1.unsettledCount } }

    /// Resumes the consumers of the wanted queues and pauses the others.
    func setDemand(_ demand: LaneDemand) {
        for (source, consumer) in consumers.enumerated() {
            let isWanted =
                switch configuration.role(ofConsumer: source) {
                case .requests: demand == .everything
                case .quarantine, .expired: demand != .nothing
                }
            if isWanted { consumer.resume() } else { consumer.pause() }
        }
    }

    /// Counts an opened connection or a failure, and recomputes `consumption` and `publication`.
    ///
    /// - Parameter isConnection: true if the connection changed; false if a channel on the connection changed.
    func update(_ changed: BrokerStatus, _ purpose: Purpose, isConnection: Bool) {
        metrics.brokerStatusChanged(changed, purpose, isConnection: isConnection)
        let needed = consumers.indices.lazy.filter { self.configuration.role(ofConsumer: $0) != .expired }
            .map { self.consumers[$0].status }
        update(
            &consumption, isUp: needed.allSatisfy { $0 == .ready },
            consuming.status.failure ?? needed.compactMap(\.failure).first)
        update(
            &publication, isUp: publisher.status == .ready, publishing.status.failure ?? publisher.status.failure)
    }

    func logOutages() {
        outages.update(
            consuming: consuming.status, publishing: publishing.status, publisher: publisher.status,
            consumers: consumers.map(\.status), now: loop.now.monotonic, log)
    }

    private func update(_ status: inout Status, isUp: Bool, _ failure: String?) {
        if isUp {
            status = .up
        } else if let failure {
            status = .down(reason: configuration.completeRemedy(failure))
        } else if status == .up {
            status = .starting
        }
    }

    /// Waits until the broker has applied all acknowledgments and requeues, but at most `settleSeconds`. Then closes
    /// both connections.
    func close(settleSeconds: Int, closeSeconds: Int) async {
        let deadline = loop.now.monotonic + .seconds(settleSeconds)
        for (consumer, events) in zip(consumers, consumerEvents) {
            guard await consumer.waitUntilSettled(by: deadline), consumer.unsettledCount == 0 else { continue }
            // The broker has applied all acknowledgments and requeues of this consumer, so the close of its channel
            // causes no redelivery.
            events.reportsLostChannels = false
        }
        consumerEvents = []
        await consuming.close(deadlineSeconds: closeSeconds)
        await publishing.close(deadlineSeconds: closeSeconds)
    }
}

extension BrokerStatus {
    /// The reason why the connection or channel cannot be used. nil if it can be used or is still starting, and for a
    /// channel whose connection is lost.
    var failure: String? {
        switch self {
        case .idle, .connecting, .ready, .disconnected: nil
        case .blocked(let reason): "the broker accepts no publishes: \(reason): \(AMQPError.alarmRemedy)"
        case .waiting(let error, _): error.advice
        case .closed: "closed"
        }
    }
}
