import AMQP
import APNS
import BrokerTopology
import EventLoop
import Registrations
import Telemetry

/// The stage after the deduplication of requests to users. It looks up the devices. Then it publishes a child for each
/// device, or pushes in place to the only device of a single user. It also looks up the registrations of stale
/// children.
///
/// Loop-bound.
final class AudienceExpander {
    let finder: DeviceFinder
    private let loop: EventLoop
    private let configuration: LaneConfiguration
    private let counters: FanoutCounters
    private var places = ChunkPlaces<DeliveryRecord>()

    init(_ context: LaneContext, _ reader: RegistrationReader) {
        (loop, configuration) = (context.loop, context.configuration)
        counters = FanoutCounters(context.counters.registry, apps: context.configuration.apps)
        finder = DeviceFinder(context, reader, counters)
    }

    /// Begins the next chunk of a request to users. The memory of duplicates must have admitted the delivery as a first
    /// delivery.
    func expand(_ pending: PendingAudience, _ record: DeliveryRecord) {
        let expansion = Expansion(pending.audience, pending.key, of: record)
        record.expansion = expansion
        // Most single users have few devices, so only a list needs a place before the lookup.
        if !pending.audience.isList || takePlace(expansion, record) { lookUp(expansion, record) }
    }

    private func lookUp(_ expansion: Expansion, _ record: DeliveryRecord) {
        let (pipeline, now) = (record.pipeline, loop.now)
        if pipeline.shouldRequeue(record) { return requeue(record) }
        if expansion.audience.push.isExpired(unixSeconds: now.unixSeconds) {
            return finish(expansion, record, .conclude(FinalOutcome(outcome: .expired)))
        }
        if let reason = pipeline.dispatcher.breakers.holdReason(expansion.audience.route, now.monotonic) {
            return hold(record, because: reason)
        }
        if let reason = finder.breaker.holdReason { return hold(record, because: reason) }
        let users = expansion.chunk.nextUsers
        guard !users.isEmpty else { return decide(expansion, record) }
        expansion.lookedUpAtMilliseconds = expansion.lookedUpAtMilliseconds ?? now.unixMilliseconds
        if users.count == 1 {
            finder.find(query(users.lowerBound, of: expansion.audience), for: .users(record, self))
        } else {
            finder.find(users.map { query($0, of: expansion.audience) }, for: .users(record, self))
        }
    }

    /// Returns the query for the devices of the user with an index.
    private func query(_ user: Int, of audience: Audience) -> DeviceQuery {
        DeviceQuery(
            app: configuration.apps.bundleID(of: audience.app), environment: audience.environment,
            kind: audience.kind, scope: audience.scope, user: audience.users[user])
    }

    /// Receives the devices of each user that was looked up, in the order of the users.
    func found(_ devices: ArraySlice<[FoundDevice]>, _ record: DeliveryRecord) {
        guard let expansion = record.expansion else { return }
        if record.pipeline.shouldRequeue(record) { return requeue(record) }
        if let device = expansion.onlyDevice(among: devices) { return pushInPlace(device, expansion, record) }
        for devices in devices { expansion.chunk.append(devices) }
        if expansion.chunk.isComplete { decide(expansion, record) } else { lookUp(expansion, record) }
    }

    private func decide(_ expansion: Expansion, _ record: DeliveryRecord) {
        if !expansion.audience.isList, expansion.chunk.isLast, !expansion.hasChildren,
            expansion.chunk.children.isEmpty
        {
            counters.completed(expansion.audience.app, devices: 0)
            return finish(expansion, record, .conclude(.noDevice))
        }
        if expansion.chunk.children.isEmpty {
            expansion.cursor = expansion.chunk.end
            return report(expansion, record)
        }
        if expansion.hasPlace || takePlace(expansion, record) { publish(expansion, record) }
    }

    private func report(_ expansion: Expansion, _ record: DeliveryRecord) {
        counters.completed(expansion.audience.app, devices: expansion.cursor.deviceCount)
        finish(expansion, record, .report)
    }

    /// Pushes to the only device of a single user. The record of the child replaces the record of the request.
    private func pushInPlace(_ device: FoundDevice, _ expansion: Expansion, _ record: DeliveryRecord) {
        let pipeline = record.pipeline
        counters.completed(expansion.audience.app, devices: 1)
        releasePlace(expansion)
        let origin = FanoutOrigin(expansion, device, ofUser: 0, isOnlyDevice: true)
        let id = expansion.template.id(for: device)
        let delivery = record.delivery.replacingBody(
            bytesReserved: expansion.template.bytesReserved(for: device)
        ) { expansion.template.append(device, id, to: &$0) }
        let token = device.tokenDigits[...]
        // The push keeps the payload of the request to users. The child's body contains the same payload.
        let push = PushRequest(
            push: expansion.audience.push.addressed(to: token, id: id), app: expansion.audience.app,
            route: expansion.audience.route, registeredAtMilliseconds: device.registeredAt)
        pipeline.deduplicate(push, DeliveryRecord(record, replacedBy: delivery, id: id, token: token, origin))
    }

    /// Releases the place, if any, and settles the request.
    private func finish(_ expansion: Expansion, _ record: DeliveryRecord, _ verdict: Verdict) {
        releasePlace(expansion)
        record.pipeline.settle(verdict, record)
    }

    /// Releases the place, if any, and holds the request.
    func hold(_ record: DeliveryRecord, because reason: HoldReason) {
        if let expansion = record.expansion { releasePlace(expansion) }
        record.pipeline.hold(nil, because: reason, record)
    }

    /// Releases the place, if any, and requeues the delivery.
    func requeue(_ record: DeliveryRecord) {
        if let expansion = record.expansion { releasePlace(expansion) }
        record.pipeline.settle(.requeue, record)
    }

    /// Requeues the deliveries that wait for a place or for the beginning of a lookup.
    func requeueWaiting() {
        for search in finder.takeWaiting() { search.requeue() }
        while let record = places.popWaiter() { record.pipeline.settle(.requeue, record) }
    }
}

/// Chunks.
extension AudienceExpander {
    private func publish(_ expansion: Expansion, _ record: DeliveryRecord) {
        let pipeline = record.pipeline
        let messages = ChildMessage(
            for: record, expansion, to: childPlace(of: record), waitID: pipeline.nextWaitID(),
            worker: pipeline.messages.identity)
        ChunkPublisher(record, expansion, messages, for: self).publish()
    }

    /// Returns the place of the request's queue. For a request in the quarantine, returns the place of the queue before
    /// the quarantine. If the lane does not know that queue, returns the place of the first request queue.
    private func childPlace(of record: DeliveryRecord) -> RequestPlace {
        let isInQuarantine = record.pipeline.session.role(of: record) == .quarantine
        let queue = isInQuarantine ? record.queueBeforeQuarantine(in: configuration) : record.delivery.queue
        let known = queue.flatMap { configuration.requestQueue(named: $0) } ?? configuration.requestQueues[0]
        return RequestPlace(exchange: configuration.names.requestsExchange, routingKey: known.routingKey)
    }

    /// Returns the place to which the request returns after a chunk: the quarantine or the request's queue.
    func parentPlace(of record: DeliveryRecord) -> RequestPlace {
        guard record.pipeline.session.role(of: record) == .quarantine else { return childPlace(of: record) }
        return RequestPlace(exchange: configuration.names.quarantineQueue, routingKey: record.delivery.routingKey)
    }

    func chunkEnded(_ published: ChunkPublisher) {
        let (record, expansion, progress) = (published.record, published.expansion, published.progress)
        let pipeline = record.pipeline
        counters.children.add(progress.publishedCount)
        releasePlace(expansion)
        if pipeline.lifecycle == .ended { return pipeline.abandon(record) }
        let children = expansion.chunk.children
        let isWhole = progress.publishedCount == children.count
        expansion.cursor = isWhole ? expansion.chunk.end : children[progress.publishedCount].before
        expansion.confirmedBehindCursor = progress.confirmedBehindCount
        if progress.mayRepeat { record.markPossibleDuplicate() }
        if let refusal = published.refusal {
            pipeline.settle(.conclude(FinalOutcome(unpublishable: refusal)), record)
        } else if progress.firstMissing != nil {
            holdFanout(record, madeProgress: progress.publishedCount > 0)
        } else if isWhole, expansion.chunk.isLast {
            report(expansion, record)
        } else {
            pipeline.settle(.again(record.attempts.expanded()), record)
        }
    }

    /// Holds a request after the broker did not confirm a publish to its queue. The lane continues to consume, which
    /// can make room in a full queue.
    func holdFanout(_ record: DeliveryRecord, madeProgress: Bool) {
        let attempts = madeProgress ? record.attempts.expanded() : record.attempts
        record.pipeline.settleHold(.fanout.completed(by: configuration.completeRemedy), attempts, record)
    }

    private func takePlace(_ expansion: Expansion, _ record: DeliveryRecord) -> Bool {
        expansion.hasPlace = places.take(orWait: record)
        return expansion.hasPlace
    }

    private func releasePlace(_ expansion: Expansion) {
        guard expansion.hasPlace else { return }
        expansion.hasPlace = false
        guard let next = places.release() else { return }
        next.expansion?.hasPlace = true
        // A direct call would recurse.
        loop.later { [self] in
            guard let expansion = next.expansion else { return }
            if next.pipeline.shouldRequeue(next) { return requeue(next) }
            if expansion.chunk.children.isEmpty { lookUp(expansion, next) } else { publish(expansion, next) }
        }
    }
}

/// Children whose registration may have ended since the expansion.
extension AudienceExpander {
    /// The time between lookup and delivery of a child, above which the worker looks up the registration again.
    static let staleSecondsMin: Int64 = 60

    /// Returns whether the registration of a child must be looked up again before the push. A child that returned from
    /// a wait queue is always stale. The registration of a child that is pushed in place was just looked up.
    func isStale(_ record: DeliveryRecord) -> Bool {
        guard let origin = record.fanoutOrigin, record.expansion == nil else { return false }
        return origin.isStale(atMilliseconds: record.receivedAtMilliseconds)
            || record.delivery.properties.header(MessageHeaderName.reasonCode) != nil
    }

    /// Looks up the registration of a child again, for each of its owners. Holds the child while the breaker of the
    /// store is open.
    func recheck(_ push: PendingPush, _ record: DeliveryRecord) {
        guard let origin = record.fanoutOrigin, let environment = record.environment else {
            return record.pipeline.requestPermit(push, record)
        }
        if let reason = finder.breaker.holdReason { return record.pipeline.hold(push, because: reason, record) }
        let queries = origin.owners.map { owner in
            DeviceQuery(
                app: configuration.apps.bundleID(of: push.request.app), environment: environment, kind: origin.kind,
                scope: origin.scope, user: owner, tokenKey: origin.registration)
        }
        finder.find(queries, for: .device(push, record, self))
    }

    /// Continues or completes a push after the second lookup of its device.
    ///
    /// - Parameter isLive: Whether any owner still owns the device.
    func rechecked(_ push: PendingPush, isLive: Bool, _ record: DeliveryRecord) {
        let pipeline = record.pipeline
        if pipeline.shouldRequeue(record) {
            pipeline.conclude(push, by: .requeue, record)
        } else if isLive {
            pipeline.requestPermit(push, record)
        } else {
            counters.gone.add()
            pipeline.conclude(push, by: .conclude(.gone), record)
        }
    }
}

extension DeliveryRecord {
    /// Returns the queue from which a request came to the quarantine; nil if the queue is unknown. The routing key is
    /// the name of that queue until the request waits. After a wait, only a header names the queue.
    fileprivate func queueBeforeQuarantine(in configuration: LaneConfiguration) -> String? {
        let names = [
            delivery.routingKey, delivery.properties.header(MessageHeaderName.originQueue)?.stringValue,
        ]
        return names.compactMap(\.self).first { configuration.requestQueue(named: $0) != nil }
    }
}

extension FinalOutcome {
    /// Creates the outcome of a request to users whose children cannot be published.
    fileprivate init(unpublishable refusal: PublishRefusal) {
        self.init(
            outcome: .rejected,
            deadLetter: DeadLetterReason(
                "registration", "child",
                "The requests to the devices cannot be published: \(refusal.rawValue). Publish the request with fewer "
                    + "headers or a smaller body."))
    }
}
