import AMQP
import Crypto
import Registrations

/// A relay that publishes stored events, and then deletes them from the store. The relay also deletes an event that no
/// broker can accept.
///
/// Loop-bound.
final class EventRelay {
    /// Events that are deleted together.
    private struct Group {
        let ids: [UUIDValue]
        let completed: () -> Void
    }

    /// Maximum number of events in progress after a change of an operator is added. Beyond it, the events of such
    /// changes remain in the store, and maintenance publishes them.
    static let operatorEventsMax = 1000

    private let publisher: ConfirmedPublisher
    private let store: CommandStore
    private let exchange: String
    private let metrics: RegistrationMetrics
    /// The groups whose deletion failed.
    private var undeleted: [Group] = []
    private var groupCount = 0
    /// The ids of the relayed events that are not yet deleted.
    private var inProgress: Set<UUIDValue> = []

    init(
        _ publisher: ConfirmedPublisher, _ store: CommandStore, exchange: String, _ metrics: RegistrationMetrics
    ) {
        (self.publisher, self.store, self.exchange, self.metrics) = (publisher, store, exchange, metrics)
    }

    /// Whether all relayed events are deleted.
    var isIdle: Bool { groupCount == 0 }

    /// Publishes events and deletes them. Omits events that are already in progress, because maintenance may claim an
    /// event again before its deletion.
    ///
    /// - Parameter completed: Called when the events are deleted, or immediately if no event remains.
    func relay(_ events: [StoredEvent], _ completed: @escaping () -> Void) {
        let events = events.filter { inProgress.insert($0.id).inserted }
        guard !events.isEmpty else { return completed() }
        groupCount += 1
        let group = Group(ids: events.map(\.id), completed: completed)
        var remaining = events.count
        for event in events {
            publisher.publish(RegistrationMessages.event(event, exchange: exchange)) { [self] isPublished in
                if isPublished { metrics.published(event) }
                remaining -= 1
                if remaining == 0 { delete(group) }
            }
        }
    }

    /// Publishes and deletes the events of a change of an operator, unless publishing fails or too many events are in
    /// progress. The prefetch limits the commands of the queue, but not the changes of operators.
    func relayIfPossible(_ events: [StoredEvent], _ completed: @escaping () -> Void) {
        guard publisher.failure == nil, inProgress.count + events.count <= Self.operatorEventsMax else { return }
        relay(events, completed)
    }

    /// Deletes the published events whose deletion failed. Call this only while the store accepts work.
    func retryDeletions() {
        let groups = undeleted
        undeleted = []
        for group in groups { delete(group) }
    }

    private func delete(_ group: Group) {
        store.delete(
            PublishedEvents(group.ids) { [self] fault in
                if fault != nil { undeleted.append(group) }
                store.workEnded(fault)
                guard fault == nil else { return }
                groupCount -= 1
                inProgress.subtract(group.ids)
                group.completed()
            })
    }
}

/// A deletion of published events that reports its end to a closure.
private final class PublishedEvents: EventDeletion {
    private let ended: (StoreFault?) -> Void

    init(_ ids: [UUIDValue], _ ended: @escaping (StoreFault?) -> Void) {
        self.ended = ended
        super.init(ids)
    }

    override func completed() { ended(nil) }

    override func failed(_ fault: StoreFault) { ended(fault) }
}
