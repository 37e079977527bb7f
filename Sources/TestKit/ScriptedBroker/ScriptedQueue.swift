public import AMQP
import EventLoop

/// A durable queue of the scripted broker: first in, first out. Requeued messages return to the front.
public final class ScriptedQueue {
    public let name: String
    public let arguments: FieldTable
    /// The number of messages appended to the queue, including dead letters and without requeues.
    public private(set) var published = 0
    /// The number of unacknowledged messages, including the messages in transit to a channel.
    public internal(set) var unsettled = 0
    /// The maximum number of ready messages; nil for no limit. A full queue refuses publishes with confirms, like a
    /// queue with the policy `max-length` and `overflow: reject-publish`.
    public var lengthMax: Int?
    /// Whether the queue was deleted. A new queue may have the same name.
    private(set) var isDeleted = false

    /// Whether consumers read the messages of the queue without removing them.
    let isStream: Bool
    /// The number of messages in a chunk of a stream. A consumer receives whole chunks.
    public var chunkMessages = 1
    /// The connection that uses the queue exclusively; nil if the queue is not exclusive.
    weak var owner: ScriptedConnection?
    private unowned let broker: ScriptedBroker
    /// The messages. The ready messages start at index `head`, which stays 0 for a stream.
    private(set) var items: [ScriptedMessage] = []
    private var head = 0
    private(set) var consumers: [ScriptedConsumer] = []
    private var nextConsumer = 0
    private var expiry: TimerToken?

    init(name: String, arguments: FieldTable, broker: ScriptedBroker) {
        self.name = name
        self.arguments = arguments
        self.broker = broker
        isStream = arguments["x-queue-type"] == "stream"
    }

    public var consumerCount: Int { consumers.count }
    var isFull: Bool { lengthMax.map { items.count - head >= $0 } ?? false }
    /// The ready messages in delivery order.
    public var ready: ArraySlice<ScriptedMessage> { items[head...] }

    func append(_ message: ScriptedMessage) {
        var message = message
        let timesToLive = [
            arguments["x-message-ttl"]?.integerValue, message.properties.expiration.flatMap { Int64($0) },
        ]
        if let timeToLive = timesToLive.compactMap({ $0 }).min() {
            message.expiresAt = broker.loop.now.monotonic + .milliseconds(timeToLive)
        }
        if isStream { message.enterStream(at: Int64(items.count)) }
        published += 1
        broker.onAppend(self, message)
        items.append(message)
        deliver()
        scheduleExpiry()
    }

    /// Requeues messages in their order, in front of all other messages, and counts a failed delivery for each.
    /// Dead-letters messages that exceed the delivery limit.
    func requeue(_ messages: [ScriptedMessage]) {
        unsettled -= messages.count
        guard !isDeleted, !isStream else { return }
        var returned: [ScriptedMessage] = []
        for var message in messages {
            message.deliveryCount += 1
            broker.onRequeue(self, message)
            if let limit = arguments["x-delivery-limit"]?.integerValue, message.deliveryCount > limit {
                broker.deadLetter(message, from: self, reason: "delivery_limit")
            } else {
                returned.append(message)
            }
        }
        let start = max(0, head - returned.count)
        items.replaceSubrange(start..<head, with: returned)
        head = start
        deliver()
        scheduleExpiry()
    }

    func popReady() -> ScriptedMessage? {
        guard head < items.count else { return nil }
        let message = items[head]
        head += 1
        if head >= 256, head * 2 >= items.count {
            items.removeFirst(head)
            head = 0
        }
        return message
    }

    func purge() -> Int {
        let count = ready.count
        items = []
        head = 0
        return count
    }

    func add(_ consumer: ScriptedConsumer) {
        consumers.append(consumer)
        deliver()
    }

    func remove(_ consumer: ScriptedConsumer) {
        consumers.removeAll { $0 === consumer }
    }

    /// Marks the queue as deleted and cancels its consumers.
    func delete() {
        isDeleted = true
        if let expiry { broker.loop.cancel(expiry) }
        expiry = nil
        let cancelled = consumers
        consumers = []
        for consumer in cancelled { consumer.channel.consumerWasCancelled(consumer) }
    }

    /// Delivers ready messages to consumers with free prefetch, in round-robin order.
    func deliver() {
        guard !isStream else { return deliverChunks() }
        while head < items.count, let consumer = consumerWithRoom(), let message = popReady() {
            consumer.channel.deliver(message, to: consumer)
        }
    }

    /// Whether only the first consumer receives messages. When that consumer is removed, the next consumer replaces it.
    var isSingleActive: Bool { arguments["x-single-active-consumer"]?.booleanValue == true }

    private func consumerWithRoom() -> ScriptedConsumer? {
        if isSingleActive { return consumers.first.flatMap { $0.hasRoom ? $0 : nil } }
        for _ in consumers.indices {
            nextConsumer = (nextConsumer + 1) % consumers.count
            if consumers[nextConsumer].hasRoom { return consumers[nextConsumer] }
        }
        return nil
    }

    private func scheduleExpiry() {
        guard expiry == nil, let time = ready.first?.expiresAt else { return }
        expiry = broker.loop.schedule(at: time) { [self] in
            expiry = nil
            expireDue()
            scheduleExpiry()
        }
    }

    /// Expires messages at the head of the queue only, as quorum queues do.
    private func expireDue() {
        while let time = ready.first?.expiresAt, time <= broker.loop.now.monotonic, let message = popReady() {
            broker.deadLetter(message, from: self, reason: "expired")
        }
    }
}

/// A consumer, which results from one `basic.consume` on one channel.
final class ScriptedConsumer {
    let tag: String
    let queue: ScriptedQueue
    unowned let channel: ScriptedChannel
    let acknowledgesItself: Bool
    /// The maximum number of unacknowledged deliveries; 0 for no limit.
    let prefetch: Int
    var unsettled = 0
    /// The index of the next message of a stream.
    var position = 0

    init(tag: String, queue: ScriptedQueue, channel: ScriptedChannel, acknowledgesItself: Bool, prefetch: Int) {
        self.tag = tag
        self.queue = queue
        self.channel = channel
        self.acknowledgesItself = acknowledgesItself
        self.prefetch = prefetch
    }

    var hasRoom: Bool { prefetch == 0 || unsettled < prefetch }
}
