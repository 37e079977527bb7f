import AMQP
import EventLoop

/// Consumers and deliveries.
extension ScriptedChannel {
    func setPrefetch(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard reader.long() != nil, let count = reader.short(), let isGlobal = reader.octet() else {
            throw ArgumentsCutShort()
        }
        guard isGlobal == 0 else {
            close(540, "NOT_IMPLEMENTED - queue does not support global qos")
            return
        }
        prefetch = Int(count)
        send(.basicQosOK)
    }

    func consume(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard reader.short() != nil, let name = reader.text(), let tag = reader.text(), let flags = reader.octet(),
            let arguments = reader.table()
        else { throw ArgumentsCutShort() }
        guard let queue = usableQueue(name) else { return }
        if let refusal = broker.behavior.consumeRefusals[name] { return close(refusal.code, refusal.text) }
        guard !broker.behavior.unansweredQueues.contains(name) else {
            isStuck = true
            return
        }
        guard !consumers.contains(where: { $0.tag == tag }) else {
            connection.close(530, "NOT_ALLOWED - attempt to reuse consumer tag '\(tag)'")
            return
        }
        guard !hasUnsettled(tag, of: queue) else {
            broker.channelCrashes += 1
            connection.close(541, "INTERNAL_ERROR")
            return
        }
        let consumer = ScriptedConsumer(
            tag: tag, queue: queue, channel: self, acknowledgesItself: flags & 2 != 0, prefetch: prefetch)
        if queue.isStream {
            guard prefetch > 0, let position = queue.position(arguments["x-stream-offset"]) else {
                return close(406, "PRECONDITION_FAILED - a stream needs a prefetch and a valid offset")
            }
            consumer.position = position
        }
        consumers.append(consumer)
        send(.basicConsumeOK) { $0.shortString(tag) }
        queue.add(consumer)
    }

    /// Returns whether the queue still waits for the acknowledgment of a delivery to a consumer tag.
    ///
    /// If such a tag is reused, RabbitMQ 3.10 and 3.11 crash the channel and the connection (rabbitmq-server#5927).
    private func hasUnsettled(_ tag: String, of queue: ScriptedQueue) -> Bool {
        func isOfTag(_ item: Unsettled) -> Bool { item.queue === queue && item.consumer?.tag == tag }
        return unsettled.contains(where: isOfTag) || keptBack.contains(where: isOfTag)
    }

    func cancel(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard let tag = reader.text() else { throw ArgumentsCutShort() }
        if let index = consumers.firstIndex(where: { $0.tag == tag }) {
            let consumer = consumers.remove(at: index)
            consumer.queue.remove(consumer)
            consumer.queue.deliver()
        }
        whenApplied { [self] in send(.basicCancelOK) { $0.shortString(tag) } }
    }

    func consumerWasCancelled(_ consumer: ScriptedConsumer) {
        consumers.removeAll { $0 === consumer }
        send(.basicCancel) { writer in
            writer.shortString(consumer.tag)
            writer.flag(true)
        }
    }

    func deliver(_ message: ScriptedMessage, to consumer: ScriptedConsumer) {
        let delay = broker.behavior.deliveryDelay
        guard delay > .zero else { return arrived(message, for: consumer) }
        consumer.unsettled += 1
        consumer.queue.unsettled += 1
        inTransit.append((message, consumer))
        broker.loop.schedule(after: delay) { [self] in oldestInTransitArrived() }
    }

    private func oldestInTransitArrived() {
        // If the list is empty, the message was already requeued, because its channel ended or its consumer was
        // canceled.
        guard let (message, consumer) = inTransit.first else { return }
        guard consumers.contains(where: { $0 === consumer }) else { return requeueInTransit { $0 === consumer } }
        inTransit.removeFirst()
        consumer.unsettled -= 1
        consumer.queue.unsettled -= 1
        arrived(message, for: consumer)
    }

    func requeueInTransit(where isIncluded: (ScriptedConsumer) -> Bool) {
        let ended = inTransit.filter { isIncluded($0.consumer) }
        inTransit.removeAll { isIncluded($0.consumer) }
        for (message, consumer) in ended.reversed() { consumer.queue.requeue([message]) }
    }

    private func arrived(_ message: ScriptedMessage, for consumer: ScriptedConsumer) {
        let tag = hold(message, from: consumer.queue, consumer: consumer)
        send(.basicDeliver) { writer in
            writer.shortString(consumer.tag)
            writer.longLong(tag)
            writer.flag(message.deliveryCount > 0)
            writer.shortString(message.exchange)
            writer.shortString(message.routingKey)
        }
        connection.sendContent(number, propertyList: message.deliveredPropertyList, body: message.body)
    }

    func get(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard reader.short() != nil, let name = reader.text(), let noAck = reader.octet() else {
            throw ArgumentsCutShort()
        }
        guard let queue = usableQueue(name) else { return }
        guard !queue.isStream else {
            connection.close(540, "NOT_IMPLEMENTED - basic.get not supported by stream queues queue '\(name)'")
            return
        }
        guard !queue.isSingleActive else {
            close(405, "RESOURCE_LOCKED - cannot obtain access to locked queue '\(name)' in vhost '/'")
            return
        }
        whenApplied { [self] in get(from: queue, acknowledgesItself: noAck & 1 != 0) }
    }

    private func get(from queue: ScriptedQueue, acknowledgesItself: Bool) {
        guard let message = queue.popReady() else {
            return send(.basicGetEmpty) { $0.shortString("") }
        }
        let tag = acknowledgesItself ? nextDeliveryTag() : hold(message, from: queue, consumer: nil)
        send(.basicGetOK) { writer in
            writer.longLong(tag)
            writer.flag(message.deliveryCount > 0)
            writer.shortString(message.exchange)
            writer.shortString(message.routingKey)
            writer.long(UInt32(queue.ready.count))
        }
        connection.sendContent(number, propertyList: message.deliveredPropertyList, body: message.body)
    }

    private func nextDeliveryTag() -> UInt64 {
        defer { nextTag += 1 }
        return nextTag
    }

    private func hold(_ message: ScriptedMessage, from queue: ScriptedQueue, consumer: ScriptedConsumer?) -> UInt64 {
        let tag = nextDeliveryTag()
        if consumer?.acknowledgesItself == true { return tag }
        consumer?.unsettled += 1
        queue.unsettled += 1
        unsettled.append(Unsettled(tag: tag, message: message, queue: queue, consumer: consumer))
        return tag
    }
}
