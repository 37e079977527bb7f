import AMQP
import APNS
import BrokerTopology
import EventLoop
import Registrations
import Telemetry

/// The stage between deduplication and permit for requests to users. It looks up the devices and publishes a request for
/// each, or pushes to the only device in place.
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

    /// Expands the next chunk of a request to users, which is a first delivery.
    func expand(_ pending: PendingAudience, _ record: DeliveryRecord) {
        let expansion = Expansion(pending.audience, pending.key, of: record)
        record.expansion = expansion
        // A list of users may have many devices. Most single users have few.
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
        let audience = expansion.audience
        let queries = audience.users[expansion.chunk.nextUsers].map { user in
            DeviceQuery(
                app: configuration.apps[audience.app].bundleID, environment: audience.environment,
                kind: audience.kind, scope: audience.scope, user: user)
        }
        guard !queries.isEmpty else { return decide(expansion, record) }
        expansion.lookedUpAtMilliseconds = expansion.lookedUpAtMilliseconds ?? now.unixMilliseconds
        finder.find(queries, for: .users(record, self))
    }

    /// Receives the devices of the next users.
    func found(_ devices: ArraySlice<[FoundDevice]>, _ record: DeliveryRecord) {
        guard let expansion = record.expansion else { return }
        if record.pipeline.shouldRequeue(record) { return requeue(record) }
        for devices in devices { expansion.chunk.append(devices) }
        if expansion.chunk.isComplete { decide(expansion, record) } else { lookUp(expansion, record) }
    }

    private func decide(_ expansion: Expansion, _ record: DeliveryRecord) {
        let (audience, chunk) = (expansion.audience, expansion.chunk)
        if !audience.isList, chunk.isLast, !expansion.hasChildren {
            if chunk.children.isEmpty {
                counters.completed(audience.app, devices: 0)
                return finish(expansion, record, .conclude(.noDevice))
            }
            if chunk.children.count == 1 { return pushInPlace(chunk.children[0], expansion, record) }
        }
        if chunk.children.isEmpty {
            expansion.cursor = chunk.end
            return report(expansion, record)
        }
        if expansion.hasPlace || takePlace(expansion, record) { publish(expansion, record) }
    }

    private func report(_ expansion: Expansion, _ record: DeliveryRecord) {
        counters.completed(expansion.audience.app, devices: expansion.cursor.deviceCount)
        finish(expansion, record, .report)
    }

    /// Pushes to the only device of a user. The record's child replaces the record.
    private func pushInPlace(_ child: FanoutChunk.Child, _ expansion: Expansion, _ record: DeliveryRecord) {
        let pipeline = record.pipeline
        counters.completed(expansion.audience.app, devices: 1)
        releasePlace(expansion)
        let origin = FanoutOrigin(expansion, child, isOnlyDevice: true)
        let request = expansion.template.child(for: child.device)
        let token = ArraySlice(child.device.token.utf8)
        // The payload is read from the body of the request to users, which contains the same bytes.
        let push = PushRequest(
            push: expansion.audience.push.addressed(to: token, id: request.id), app: expansion.audience.app,
            route: expansion.audience.route, registeredAtMilliseconds: child.device.registeredAt)
        pipeline.deduplicate(push, DeliveryRecord(record, replacedBy: request, token: token, origin))
    }

    /// Settles the request to users.
    private func finish(_ expansion: Expansion, _ record: DeliveryRecord, _ verdict: Verdict) {
        releasePlace(expansion)
        record.pipeline.settle(verdict, record)
    }

    /// Moves the request to a wait queue.
    func hold(_ record: DeliveryRecord, because reason: HoldReason) {
        if let expansion = record.expansion { releasePlace(expansion) }
        record.pipeline.hold(nil, because: reason, record)
    }

    /// Returns the request to the broker.
    func requeue(_ record: DeliveryRecord) {
        if let expansion = record.expansion { releasePlace(expansion) }
        record.pipeline.settle(.requeue, record)
    }

    /// Requeues all requests that wait for a place or a lookup.
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

    /// Returns the place of the queue from which the request came, or came to the quarantine.
    private func childPlace(of record: DeliveryRecord) -> RequestPlace {
        let isInQuarantine = record.pipeline.session.role(of: record) == .quarantine
        let queue = isInQuarantine ? record.queueBeforeQuarantine(in: configuration) : record.delivery.queue
        let known = queue.flatMap { configuration.requestQueue(named: $0) } ?? configuration.requestQueues[0]
        return RequestPlace(exchange: configuration.names.requestsExchange, routingKey: known.routingKey)
    }

    /// Returns the place to which the request returns after a chunk.
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

    /// Moves a request to a wait queue, since its queue accepts no requests. Consumption continues, since it may be what
    /// makes room in the queue.
    func holdFanout(_ record: DeliveryRecord, madeProgress: Bool) {
        let attempts = madeProgress ? record.attempts.expanded() : record.attempts
        record.pipeline.settleHold(.fanout, attempts, record)
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
    /// The time after which the registration of a child is looked up again.
    static let staleSecondsMin: Int64 = 60

    /// Returns whether a child must be looked up before its push. A child that is pushed in place was just looked up.
    func isStale(_ record: DeliveryRecord) -> Bool {
        guard let origin = record.fanoutOrigin, record.expansion == nil else { return false }
        return record.receivedAtMilliseconds - origin.expandedAtMilliseconds > Self.staleSecondsMin * 1000
            || record.delivery.properties.header(MessageHeaderName.reasonCode) != nil
    }

    /// Looks up the registration of a child.
    func recheck(_ push: PendingPush, _ record: DeliveryRecord) {
        guard let origin = record.fanoutOrigin, let environment = record.environment else {
            return record.pipeline.requestPermit(push, record)
        }
        if let reason = finder.breaker.holdReason { return record.pipeline.hold(push, because: reason, record) }
        let query = DeviceQuery(
            app: configuration.apps[push.request.app].bundleID, environment: environment, kind: origin.kind,
            scope: origin.scope, user: origin.user, tokenKey: origin.registration)
        finder.find([query], for: .device(push, record, self))
    }

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
    /// The request queue of a request in the quarantine; nil if it is unknown. After a wait, the routing key names the
    /// quarantine.
    fileprivate func queueBeforeQuarantine(in configuration: LaneConfiguration) -> String? {
        let names = [
            delivery.routingKey, delivery.properties.header(MessageHeaderName.originQueue)?.stringValue,
        ]
        return names.compactMap(\.self).first { configuration.requestQueue(named: $0) != nil }
    }
}

extension FinalOutcome {
    /// The outcome of a request to users whose children cannot be published.
    fileprivate init(unpublishable refusal: PublishRefusal) {
        self.init(
            outcome: .rejected,
            deadLetter: DeadLetterReason(
                "registration", "child",
                "The requests to the devices cannot be published: \(refusal.rawValue). Publish the request with fewer "
                    + "headers or a smaller body."))
    }
}
