import AMQP
import APNS
import EventLoop
import Telemetry

/// The path of the deliveries of a lane: read, deduplicate, permit, push, settle.
///
/// A stage is a method that calls the next stage, or passes the record to a component that resumes it later. No task
/// waits for APNs or the broker. The record receives their answers and calls the pipeline (decision 32).
///
/// Loop-bound.
final class DeliveryPipeline {
    let loop: EventLoop
    let log: Log
    let reader: RequestReader
    let session: BrokerSession
    let dispatcher: PushDispatcher
    let routes: RouteMonitor
    let permits: PermitScheduler
    let duplicates: DuplicateFilter
    let retrier: PublishRetrier
    let messages: MessageFactory
    let metrics: LaneMetrics
    let spans: SpanCollector
    /// The expander of requests to users; nil if device registrations are not configured.
    let expander: AudienceExpander?
    let deliveries = InFlightDeliveries()
    var lifecycle = LaneLifecycle.running
    let onStateChange: @Sendable (LaneState) -> Void

    /// Creates the components of a lane. To be called on the loop's thread.
    init(_ context: LaneContext) {
        let (loop, configuration) = (context.loop, context.configuration)
        self.loop = loop
        log = context.log
        onStateChange = context.onStateChange
        metrics = LaneMetrics(configuration, context.counters)
        reader = RequestReader(
            apps: configuration.apps, payloadSchemas: configuration.payloadSchemas,
            hasRegistrations: configuration.hasRegistrations, bytesMax: configuration.consumer.messageBytesMax,
            depthMax: configuration.messageDepthMax)
        session = BrokerSession(context, metrics)
        dispatcher = PushDispatcher(context)
        routes = RouteMonitor(dispatcher, context)
        permits = PermitScheduler(context, metrics)
        duplicates = DuplicateFilter(context)
        retrier = PublishRetrier(context, metrics)
        messages = MessageFactory(context, publisher: session.publisher)
        spans = SpanCollector(context)
        expander = context.registrations.map { AudienceExpander(context, $0) }
    }

    func delivered(_ delivery: consuming IncomingMessage, from source: Int) {
        deliver(DeliveryRecord(of: delivery, from: source, in: self, loop.now))
    }

    /// Runs the first stage, unless the delivery must be parked or requeued.
    func deliver(_ record: DeliveryRecord) {
        guard !shouldPark(record) else { return retrier.park(record) }
        guard begin(record) else { return }
        guard session.role(of: record) != .expired else { return deliverExpired(record) }
        guard !exceedsDeliveryLimit(record) else { return quarantine(record) }
        switch read(record) {
        case .success(.push(let request)): deduplicate(request, record)
        case .success(.audience(let audience)) where expander != nil: deduplicate(audience, record)
        case .success(.audience(let audience)):
            settle(.conclude(FinalOutcome(invalid: .registrationsNotConfigured(isList: audience.isList))), record)
        case .failure(let violation): settle(.conclude(FinalOutcome(invalid: violation)), record)
        }
    }

    /// Counts the delivery as in flight. Returns false if it was requeued instead.
    private func begin(_ record: DeliveryRecord) -> Bool {
        guard !lifecycle.isLeaving, session.holds(record) else {
            requeue(record)
            return false
        }
        deliveries.begin()
        metrics.counters.inFlight.add(1)
        metrics.delivered(from: record.source, isRedelivered: record.delivery.isRedelivered)
        record.readFanoutOrigin(trusting: messages.identity)
        spans.begin(record)
        if let age = record.ageNanoseconds { metrics.counters.age.observe(age) }
        return true
    }

    /// Requeues the delivery. If its channel was lost, the broker redelivers the request anyway.
    private func requeue(_ record: DeliveryRecord) {
        if session.holds(record) { metrics.counters.requeued.add() }
        session.requeue(record)
        deliveries.resumeIfIdle()
    }

    /// Runs the last stage, after the delivery was acknowledged, rejected or requeued.
    func end(_ record: DeliveryRecord) {
        metrics.counters.inFlight.add(-1)
        spans.end(record)
        metrics.counters.whole.observe(record.receivedAt, loop.now.monotonic)
        deliveries.end()
    }

    func read(_ record: DeliveryRecord) -> Result<ReadRequest, RequestViolation> {
        let result = reader.read(record)
        if record.event != nil, record.trace == nil { spans.begin(record) }
        record.trace?.validated(loop.now)
        return result
    }

    /// Returns whether a request that is not pushed yet returns to the broker. If its channel was lost, the broker
    /// redelivers the request.
    func shouldRequeue(_ record: DeliveryRecord) -> Bool { lifecycle.isLeaving || !session.holds(record) }

    private func shouldPark(_ record: DeliveryRecord) -> Bool {
        retrier.flow.isStuck && !lifecycle.isLeaving && session.holds(record)
    }

    /// Delivers the parked records. To be called when a parked record may no longer have to wait.
    func deliverParked() {
        for record in retrier.takeParked() { deliver(record) }
    }
}
