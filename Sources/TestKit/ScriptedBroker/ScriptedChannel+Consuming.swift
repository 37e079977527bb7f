import AMQP

/// What consumers get, and what they hold.
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
        guard reader.short() != nil, let name = reader.text(), let tag = reader.text(), let flags = reader.octet()
        else { throw ArgumentsCutShort() }
        guard let queue = broker.queue(name) else { return notFound("queue", name) }
        guard !broker.behaviour.unansweredQueues.contains(name) else {
            isStuck = true
            return
        }
        guard !consumers.contains(where: { $0.tag == tag }) else {
            connection.close(530, "NOT_ALLOWED - attempt to reuse consumer tag '\(tag)'")
            return
        }
        let consumer = ScriptedConsumer(
            tag: tag, queue: queue, channel: self, acknowledgesItself: flags & 2 != 0, prefetch: prefetch)
        consumers.append(consumer)
        send(.basicConsumeOK) { $0.shortString(tag) }
        queue.add(consumer)
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
        guard let queue = broker.queue(name) else { return notFound("queue", name) }
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
        let tag = acknowledgesItself ? takeTag() : hold(message, from: queue, consumer: nil)
        send(.basicGetOK) { writer in
            writer.longLong(tag)
            writer.flag(message.deliveryCount > 0)
            writer.shortString(message.exchange)
            writer.shortString(message.routingKey)
            writer.long(UInt32(queue.ready.count))
        }
        connection.sendContent(number, propertyList: message.deliveredPropertyList, body: message.body)
    }

    private func takeTag() -> UInt64 {
        defer { nextTag += 1 }
        return nextTag
    }

    private func hold(_ message: ScriptedMessage, from queue: ScriptedQueue, consumer: ScriptedConsumer?) -> UInt64 {
        let tag = takeTag()
        if consumer?.acknowledgesItself == true { return tag }
        consumer?.unsettled += 1
        queue.unsettled += 1
        unsettled.append(Unsettled(tag: tag, message: message, queue: queue, consumer: consumer))
        return tag
    }
}
