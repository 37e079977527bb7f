import AMQP
import EventLoop

/// Acknowledgments and rejections of deliveries.
extension ScriptedChannel {
    struct Unsettled {
        var tag: UInt64
        var message: ScriptedMessage
        var queue: ScriptedQueue
        /// The consumer; nil if the message was fetched with `basic.get`.
        var consumer: ScriptedConsumer?
    }

    func acknowledge(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard let tag = reader.longLong(), let multiple = reader.octet() else { throw ArgumentsCutShort() }
        if let items = removeUnsettled(tag, multiple: multiple & 1 != 0) { release(items) }
    }

    /// Acknowledges deliveries. If too many acknowledgments are in flight to queues, the channel keeps `items` until a
    /// queue has applied an earlier acknowledgment.
    private func release(_ items: [Unsettled]) {
        let delay = broker.behavior.applyDelay
        if delay > .zero {
            guard unapplied < Self.unappliedMax else {
                keptBack += items
                return
            }
            unapplied += 1
            broker.loop.schedule(after: delay) { [self] in applied() }
        }
        for item in items {
            item.queue.unsettled -= 1
            item.consumer?.unsettled -= 1
        }
        deliver(to: items)
    }

    private func applied() {
        unapplied -= 1
        guard case .open = state, !keptBack.isEmpty else { return }
        let items = keptBack
        keptBack = []
        release(items)
    }

    /// Calls `answer` when the queues have applied the acknowledgments in flight, if the channel is then still open.
    func whenApplied(_ answer: @escaping () -> Void) {
        guard unapplied > 0 else { return answer() }
        broker.loop.schedule(after: broker.behavior.applyDelay) { [self] in
            if case .open = state { answer() }
        }
    }

    func reject(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard let tag = reader.longLong(), let requeue = reader.octet() else { throw ArgumentsCutShort() }
        if let items = removeUnsettled(tag, multiple: false) { reject(items, requeue: requeue & 1 != 0) }
    }

    func nack(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard let tag = reader.longLong(), let flags = reader.octet() else { throw ArgumentsCutShort() }
        if let items = removeUnsettled(tag, multiple: flags & 1 != 0) { reject(items, requeue: flags & 2 != 0) }
    }

    private func reject(_ items: [Unsettled], requeue: Bool) {
        if requeue { broker.requeued += items.count }
        settle(items, requeue: requeue)
    }

    /// Removes and returns the delivery of a tag, with `multiple` also all earlier deliveries. With `multiple`, tag 0
    /// means all deliveries.
    ///
    /// Closes the channel and returns nil if the tag is unknown.
    private func removeUnsettled(_ tag: UInt64, multiple: Bool) -> [Unsettled]? {
        if tag == 0, multiple {
            defer { unsettled = [] }
            return unsettled
        }
        guard let index = index(of: tag) else {
            close(406, "PRECONDITION_FAILED - unknown delivery tag \(tag)")
            return nil
        }
        let range = multiple ? 0..<(index + 1) : index..<(index + 1)
        defer { unsettled.removeSubrange(range) }
        return Array(unsettled[range])
    }

    private func index(of tag: UInt64) -> Int? {
        var (low, high) = (0, unsettled.count)
        while low < high {
            let middle = (low + high) / 2
            if unsettled[middle].tag < tag { low = middle + 1 } else { high = middle }
        }
        return low < unsettled.count && unsettled[low].tag == tag ? low : nil
    }

    /// Requeues the messages, grouped by queue. Without `requeue`, dead-letters the messages.
    func settle(_ items: [Unsettled], requeue: Bool) {
        for item in items { item.consumer?.unsettled -= 1 }
        guard requeue else {
            for item in items {
                item.queue.unsettled -= 1
                guard !item.queue.isDeleted else { continue }
                broker.deadLetter(item.message, from: item.queue, reason: "rejected")
            }
            return deliver(to: items)
        }
        var rest = items[...]
        while let queue = rest.first?.queue {
            let own = rest.filter { $0.queue === queue }
            rest = rest.filter { $0.queue !== queue }[...]
            queue.requeue(own.map(\.message))
        }
    }

    /// Delivers more messages from the queues of `items`, because the consumers now have free prefetch.
    private func deliver(to items: [Unsettled]) {
        var visited: [ScriptedQueue] = []
        for item in items where !visited.contains(where: { $0 === item.queue }) {
            visited.append(item.queue)
            item.queue.deliver()
        }
    }
}
