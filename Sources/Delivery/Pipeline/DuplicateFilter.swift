import AMQP
import APNS
import EventLoop

/// The lane's access to the memory of duplicates, with the channels of the lane's consumers.
///
/// Loop-bound.
final class DuplicateFilter {
    private let loop: EventLoop
    private let memory: DuplicateMemory
    /// The current channel of each consumer.
    private var channels: [DuplicateMemory.Channel]

    init(_ context: LaneContext) {
        (loop, memory) = (context.loop, context.duplicates)
        let consumers = context.configuration.consumers
        context.duplicates.expect(channels: context.configuration.laneCount * consumers.count)
        channels = consumers.map { _ in context.duplicates.openChannel() }
    }

    func key(of request: PushRequest, _ record: DeliveryRecord) -> DeduplicationKey {
        memory.key(id: request.push.id, of: record.delivery.content)
    }

    func candidate(_ record: DeliveryRecord) -> DuplicateCandidate {
        DuplicateCandidate(
            record, on: channels[record.source], fingerprint: memory.fingerprint(of: record.delivery.properties))
    }

    func key(of audience: Audience, _ record: DeliveryRecord) -> DeduplicationKey {
        memory.key(id: audience.id, of: record.delivery.content)
    }

    /// Looks the request up and registers the delivery. After `inFlight`, the pipeline's `firstEnded` resumes the
    /// record.
    ///
    /// - Parameter request: The request. It is evaluated only if the delivery must wait.
    func begin(
        _ key: DeduplicationKey, _ candidate: DuplicateCandidate, _ record: DeliveryRecord,
        _ request: @autoclosure () -> PendingRequest
    ) -> DuplicateMemory.Admission {
        while true {
            let admission = memory.begin(key, candidate)
            guard admission == .inFlight else { return admission }
            let waiter = WaitingDelivery(request(), candidate, record, owner: ObjectIdentifier(self), loop: loop)
            // Another lane may have ended the first delivery between the two calls.
            if memory.join(key, candidate, waiter) { return .inFlight }
        }
    }

    /// Records that the request is about to be republished with this wait id.
    func sendToWait(_ key: DeduplicationKey, waitID: UInt32) { memory.sendToWait(key, waitID: waitID) }

    /// Records the verdict on a settled delivery, and resumes the waiters of the request.
    func settle(_ key: DeduplicationKey, _ verdict: Verdict) {
        memory.settle(key, verdict, now: loop.now.monotonic)
    }

    /// Removes a request, so that its next delivery is a first delivery again. Resumes the waiters of the request.
    func forget(_ key: DeduplicationKey) { memory.forget(key) }

    /// Records the loss of the consumer's channel, and registers the next channel. The broker redelivers the
    /// unacknowledged deliveries of the lost channel.
    func channelLost(_ source: Int) {
        memory.lose(channels[source], now: loop.now.monotonic)
        channels[source] = memory.openChannel()
    }

    /// Resumes all records of the lane that wait for first deliveries.
    func endWaits() { memory.endWaits(of: ObjectIdentifier(self)) }
}

/// A delivery that waits for the outcome of the first delivery of its request, perhaps in another lane.
///
/// `@unchecked Sendable`: other lanes only post the waiter to its lane's loop, and only that loop uses the contents.
private final class WaitingDelivery: DuplicateMemory.Waiter, @unchecked Sendable {
    private let request: PendingRequest
    private let candidate: DuplicateCandidate
    private let record: DeliveryRecord
    private let loop: EventLoop

    init(
        _ request: PendingRequest, _ candidate: DuplicateCandidate, _ record: DeliveryRecord, owner: ObjectIdentifier,
        loop: EventLoop
    ) {
        (self.request, self.candidate, self.record, self.loop) = (request, candidate, record, loop)
        super.init(owner: owner)
    }

    override func firstEnded(_ end: DuplicateMemory.FirstEnd?) {
        if loop.isOnLoop { loop.later { self.resume(end) } } else { loop.post { self.resume(end) } }
    }

    private func resume(_ end: DuplicateMemory.FirstEnd?) {
        record.pipeline.firstEnded(end, request, candidate, record)
    }
}
