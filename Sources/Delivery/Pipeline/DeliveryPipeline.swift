import AMQP
import APNS
import EventLoop
import Telemetry

/// The path of the deliveries of a lane: read, deduplicate, permit, push, settle.
///
/// A stage is a method that calls the next stage, or parks the record in a component that resumes it. No task waits for an
/// answer of APNs or a confirm of the broker: a record holds the pipeline and calls it (decision 32).
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
    /// Resumed when no delivery is in flight any more, and when the lifecycle changes.
    let idle = ContinuationList<Void>()
    var lifecycle = LaneLifecycle.running
    private(set) var inFlight = 0
    let onStateChange: @Sendable (LaneState) -> Void

    /// Makes the components of a lane. On the loop's thread.
    init(_ context: LaneContext) {
        let (loop, configuration) = (context.loop, context.configuration)
        self.loop = loop
        log = context.log
        onStateChange = context.onStateChange
        metrics = LaneMetrics(configuration, context.counters)
        reader = RequestReader(
            apps: configuration.apps, payloadSchemas: configuration.payloadSchemas,
            bytesMax: configuration.consumer.messageBytesMax, depthMax: configuration.messageDepthMax)
        session = BrokerSession(context, metrics)
        dispatcher = PushDispatcher(context)
        routes = RouteMonitor(dispatcher, context)
        permits = PermitScheduler(context, metrics)
        duplicates = DuplicateFilter(context)
        retrier = PublishRetrier(context, metrics)
        messages = MessageFactory(configuration, publisher: session.publisher)
        spans = SpanCollector(context)
    }

    func delivered(_ delivery: consuming IncomingMessage, from source: Int) {
        deliver(DeliveryRecord(of: delivery, from: source, in: self, loop.now))
    }

    /// The first stage. A delivery that is settled or acknowledged has ended.
    func deliver(_ record: DeliveryRecord) {
        guard !shouldPark(record) else { return retrier.park(record) }
        guard begin(record) else { return }
        guard session.role(of: record) != .expired else { return deliverExpired(record) }
        guard !exceedsDeliveryLimit(record) else { return quarantine(record) }
        switch read(record) {
        case .success(let request): deduplicate(request, record)
        case .failure(let violation): settle(.conclude(FinalOutcome(invalid: violation)), record)
        }
    }

    /// Returns false if the delivery is requeued instead.
    private func begin(_ record: DeliveryRecord) -> Bool {
        guard !lifecycle.isLeaving, session.holds(record) else {
            requeue(record)
            return false
        }
        inFlight += 1
        metrics.counters.inFlight.add(1)
        metrics.delivered(from: record.source, isRedelivered: record.delivery.isRedelivered)
        spans.begin(record)
        if let age = record.ageNanoseconds { metrics.counters.age.observe(age) }
        return true
    }

    /// If the channel was lost since, the broker delivers the request again, and this only releases the bytes.
    private func requeue(_ record: DeliveryRecord) {
        if session.holds(record) { metrics.counters.requeued.add() }
        session.requeue(record)
        if inFlight == 0 { idle.resume(returning: ()) }
    }

    /// The last stage, after the delivery is settled at the broker.
    func end(_ record: DeliveryRecord) {
        inFlight -= 1
        metrics.counters.inFlight.add(-1)
        spans.end(record)
        metrics.counters.whole.observe(record.receivedAt, loop.now.monotonic)
        if inFlight == 0 { idle.resume(returning: ()) }
    }

    func read(_ record: DeliveryRecord) -> Result<PushRequest, RequestViolation> {
        let result = reader.read(record)
        if record.event != nil, record.trace == nil { spans.begin(record) }
        record.trace?.validated(loop.now)
        return result
    }

    private func shouldPark(_ record: DeliveryRecord) -> Bool {
        retrier.flow.isStuck && !lifecycle.isLeaving && session.holds(record)
    }

    /// Delivers the parked records. To be called when some may no longer have to wait.
    func deliverParked() {
        for record in retrier.takeParked() { deliver(record) }
    }
}
