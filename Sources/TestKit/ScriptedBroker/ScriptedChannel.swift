import AMQP
import EventLoop

/// One channel of a connection to the scripted broker: consumers, what they hold, publishes and their confirms.
final class ScriptedChannel {
    private struct Unsettled {
        var tag: UInt64
        var message: ScriptedMessage
        var queue: ScriptedQueue
        /// `nil` for what was fetched with `basic.get`.
        var consumer: ScriptedConsumer?
    }

    private struct Publish {
        var exchange: String
        var routingKey: String
        var isMandatory: Bool
    }

    private enum State {
        case open
        /// `channel.close` was sent; all but `close-ok` is ignored.
        case closing
        case ended
    }

    let number: UInt16
    private unowned let connection: ScriptedConnection
    private let broker: ScriptedBroker
    private var state = State.open
    private var prefetch = 0
    private var consumers: [ScriptedConsumer] = []
    private var nextTag: UInt64 = 1
    /// By tag.
    private var unsettled: [Unsettled] = []
    private var publish: Publish?
    private var content = ContentAssembler(bodyBytesMax: 128 << 20)
    private var confirms: ScriptedConfirms?

    init(number: UInt16, connection: ScriptedConnection) {
        self.number = number
        self.connection = connection
        broker = connection.broker
    }

    private func send(_ classID: UInt16, _ methodID: UInt16, _ arguments: (inout WireWriter) -> Void = { _ in }) {
        connection.send(number, classID, methodID, arguments)
    }

    /// Closes the channel with an error, as a broker does.
    private func close(_ code: UInt16, _ text: String) {
        send(20, 40) { writer in
            writer.short(code)
            writer.shortString(text)
            writer.short(0)
            writer.short(0)
        }
        state = .closing
        putBack()
    }

    /// The connection or the channel is no more.
    func end() {
        state = .ended
        putBack()
    }

    private func putBack() {
        for consumer in consumers { consumer.queue.remove(consumer) }
        consumers = []
        confirms = nil
        settle(unsettled, requeue: true)
        unsettled = []
    }

    func receive(_ frame: Frame) {
        if case .closing = state {
            var reader = WireReader(frame.payload)
            if frame.kind == .method, reader.short() == 20, reader.short() == 41 { connection.remove(self) }
            return
        }
        switch frame.kind {
        case .heartbeat: break
        case .contentHeader: received(content.header(frame.payload))
        case .contentBody: received(content.body(frame.payload))
        case .method:
            var reader = WireReader(frame.payload)
            guard !content.isBusy, let classID = reader.short(), let methodID = reader.short(),
                let isHandled = receive(classID, methodID, &reader)
            else { return connection.close(505, "UNEXPECTED_FRAME") }
            if !isHandled { connection.close(540, "NOT_IMPLEMENTED - \(classID).\(methodID)") }
        }
    }

    private func received(_ step: ContentAssembler.Step) {
        switch step {
        case .incomplete: break
        case .violation: connection.close(505, "UNEXPECTED_FRAME")
        case .complete: takePublish(content.take())
        }
    }

    /// `nil` when the arguments are cut short, `false` when the method is not known here.
    private func receive(_ classID: UInt16, _ methodID: UInt16, _ reader: inout WireReader) -> Bool? {
        switch (classID, methodID) {
        case (20, 40):
            send(20, 41)
            end()
            connection.remove(self)
        case (40, 10): return declareExchange(&reader)
        case (40, 20): return deleteExchange(&reader)
        case (40, 30): return bindExchange(&reader)
        case (50, 10): return declareQueue(&reader)
        case (50, 20): return bindQueue(&reader)
        case (50, 30): return purgeQueue(&reader)
        case (50, 40): return deleteQueue(&reader)
        case (50, 50): return unbindQueue(&reader)
        case (60, 10): return setPrefetch(&reader)
        case (60, 20): return consume(&reader)
        case (60, 30): return cancel(&reader)
        case (60, 40): return beginPublish(&reader)
        case (60, 70): return get(&reader)
        case (60, 80): return acknowledge(&reader)
        case (60, 90): return reject(&reader)
        case (60, 120): return nack(&reader)
        case (85, 10):
            confirms = confirms ?? ScriptedConfirms()
            send(85, 11)
        default: return false
        }
        return true
    }

    private func declareExchange(_ reader: inout WireReader) -> Bool? {
        guard reader.short() != nil, let name = reader.text(), let kind = reader.text(), let flags = reader.octet(),
            let arguments = reader.longString().flatMap({ FieldTable(content: $0) })
        else { return nil }
        if flags & 1 != 0 {
            guard broker.exchange(name) != nil else { return notFound("exchange", name) }
        } else if let exchange = broker.exchange(name) {
            guard exchange.kind.rawValue == kind else {
                close(406, "PRECONDITION_FAILED - inequivalent arg 'type' for exchange '\(name)' in vhost '/'")
                return true
            }
        } else if let kind = ExchangeKind(rawValue: kind) {
            broker.declareExchange(name, kind, arguments: arguments)
        } else {
            close(503, "COMMAND_INVALID - unknown exchange type '\(kind)'")
            return true
        }
        send(40, 11)
        return true
    }

    private func deleteExchange(_ reader: inout WireReader) -> Bool? {
        guard reader.short() != nil, let name = reader.text() else { return nil }
        broker.deleteExchange(name)
        send(40, 21)
        return true
    }

    private func bindExchange(_ reader: inout WireReader) -> Bool? {
        guard reader.short() != nil, let destination = reader.text(), let source = reader.text(),
            let key = reader.text()
        else { return nil }
        for name in [source, destination] where broker.exchange(name) == nil { return notFound("exchange", name) }
        broker.bind(.exchange(destination), to: source, key: key)
        send(40, 31)
        return true
    }

    private func declareQueue(_ reader: inout WireReader) -> Bool? {
        guard reader.short() != nil, let name = reader.text(), let flags = reader.octet(),
            let arguments = reader.longString().flatMap({ FieldTable(content: $0) })
        else { return nil }
        if flags & 1 != 0 {
            guard broker.queue(name) != nil else { return notFound("queue", name) }
        } else if let queue = broker.queue(name), queue.arguments != arguments {
            close(406, "PRECONDITION_FAILED - inequivalent arg for queue '\(name)' in vhost '/'")
            return true
        }
        let queue = broker.declareQueue(name, arguments: arguments)
        send(50, 11) { writer in
            writer.shortString(name)
            writer.long(UInt32(queue.ready.count))
            writer.long(UInt32(queue.consumerCount))
        }
        return true
    }

    private func bindQueue(_ reader: inout WireReader) -> Bool? {
        guard reader.short() != nil, let queue = reader.text(), let exchange = reader.text(), let key = reader.text()
        else { return nil }
        guard broker.queue(queue) != nil else { return notFound("queue", queue) }
        guard broker.exchange(exchange) != nil else { return notFound("exchange", exchange) }
        broker.bind(.queue(queue), to: exchange, key: key)
        send(50, 21)
        return true
    }

    private func unbindQueue(_ reader: inout WireReader) -> Bool? {
        guard reader.short() != nil, let queue = reader.text(), let exchange = reader.text(), let key = reader.text()
        else { return nil }
        broker.unbind(.queue(queue), from: exchange, key: key)
        send(50, 51)
        return true
    }

    private func purgeQueue(_ reader: inout WireReader) -> Bool? {
        guard reader.short() != nil, let name = reader.text() else { return nil }
        guard let queue = broker.queue(name) else { return notFound("queue", name) }
        let count = queue.purge()
        send(50, 31) { $0.long(UInt32(count)) }
        return true
    }

    private func deleteQueue(_ reader: inout WireReader) -> Bool? {
        guard reader.short() != nil, let name = reader.text() else { return nil }
        let count = broker.deleteQueue(name)
        send(50, 41) { $0.long(UInt32(count)) }
        return true
    }

    private func notFound(_ what: String, _ name: String) -> Bool {
        close(404, "NOT_FOUND - no \(what) '\(name)' in vhost '/'")
        return true
    }

    private func setPrefetch(_ reader: inout WireReader) -> Bool? {
        guard reader.long() != nil, let count = reader.short(), let isGlobal = reader.octet() else { return nil }
        guard isGlobal == 0 else {
            close(540, "NOT_IMPLEMENTED - queue does not support global qos")
            return true
        }
        prefetch = Int(count)
        send(60, 11)
        return true
    }

    private func consume(_ reader: inout WireReader) -> Bool? {
        guard reader.short() != nil, let name = reader.text(), let tag = reader.text(), let flags = reader.octet()
        else {
            return nil
        }
        guard let queue = broker.queue(name) else { return notFound("queue", name) }
        guard !consumers.contains(where: { $0.tag == tag }) else {
            connection.close(530, "NOT_ALLOWED - attempt to reuse consumer tag '\(tag)'")
            return true
        }
        let consumer = ScriptedConsumer(
            tag: tag, queue: queue, channel: self, acknowledgesItself: flags & 2 != 0, prefetch: prefetch)
        consumers.append(consumer)
        send(60, 21) { $0.shortString(tag) }
        queue.add(consumer)
        return true
    }

    private func cancel(_ reader: inout WireReader) -> Bool? {
        guard let tag = reader.text() else { return nil }
        if let index = consumers.firstIndex(where: { $0.tag == tag }) {
            let consumer = consumers.remove(at: index)
            consumer.queue.remove(consumer)
        }
        send(60, 31) { $0.shortString(tag) }
        return true
    }

    func consumerWasCancelled(_ consumer: ScriptedConsumer) {
        consumers.removeAll { $0 === consumer }
        unsettled.removeAll { $0.queue === consumer.queue }
        send(60, 30) { writer in
            writer.shortString(consumer.tag)
            writer.flag(true)
        }
    }

    func deliver(_ message: ScriptedMessage, to consumer: ScriptedConsumer) {
        let tag = hold(message, from: consumer.queue, consumer: consumer)
        send(60, 60) { writer in
            writer.shortString(consumer.tag)
            writer.longLong(tag)
            writer.flag(message.deliveryCount > 0)
            writer.shortString(message.exchange)
            writer.shortString(message.routingKey)
        }
        connection.sendContent(number, propertyList: message.deliveredPropertyList, body: message.body)
    }

    private func get(_ reader: inout WireReader) -> Bool? {
        guard reader.short() != nil, let name = reader.text(), let noAck = reader.octet() else { return nil }
        guard let queue = broker.queue(name) else { return notFound("queue", name) }
        guard let message = queue.popReady() else {
            send(60, 72) { $0.shortString("") }
            return true
        }
        let tag = noAck & 1 != 0 ? takeTag() : hold(message, from: queue, consumer: nil)
        send(60, 71) { writer in
            writer.longLong(tag)
            writer.flag(message.deliveryCount > 0)
            writer.shortString(message.exchange)
            writer.shortString(message.routingKey)
            writer.long(UInt32(queue.ready.count))
        }
        connection.sendContent(number, propertyList: message.deliveredPropertyList, body: message.body)
        return true
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

    private func acknowledge(_ reader: inout WireReader) -> Bool? {
        guard let tag = reader.longLong(), let multiple = reader.octet() else { return nil }
        guard let taken = take(tag, multiple: multiple & 1 != 0) else { return true }
        for item in taken {
            item.queue.unsettled -= 1
            item.consumer?.unsettled -= 1
        }
        deliver(to: taken)
        return true
    }

    private func reject(_ reader: inout WireReader) -> Bool? {
        guard let tag = reader.longLong(), let requeue = reader.octet() else { return nil }
        if let taken = take(tag, multiple: false) { settle(taken, requeue: requeue & 1 != 0) }
        return true
    }

    private func nack(_ reader: inout WireReader) -> Bool? {
        guard let tag = reader.longLong(), let flags = reader.octet() else { return nil }
        if let taken = take(tag, multiple: flags & 1 != 0) { settle(taken, requeue: flags & 2 != 0) }
        return true
    }

    /// What a tag names; `nil` after closing the channel when it names nothing.
    private func take(_ tag: UInt64, multiple: Bool) -> [Unsettled]? {
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

    /// Puts messages back, each run of one queue at once, or sends them to the dead letters.
    private func settle(_ items: [Unsettled], requeue: Bool) {
        for item in items { item.consumer?.unsettled -= 1 }
        guard requeue else {
            for item in items {
                item.queue.unsettled -= 1
                broker.deadLetter(item.message, from: item.queue, reason: "rejected")
            }
            return deliver(to: items)
        }
        var rest = items[...]
        while let queue = rest.first?.queue {
            let own = rest.filter { $0.queue === queue }
            rest = rest.filter { $0.queue !== queue }[...]
            queue.putBack(own.map(\.message))
        }
    }

    /// Consumers have room again.
    private func deliver(to items: [Unsettled]) {
        var visited: [ScriptedQueue] = []
        for item in items where !visited.contains(where: { $0 === item.queue }) {
            visited.append(item.queue)
            item.queue.deliver()
        }
    }

    private func beginPublish(_ reader: inout WireReader) -> Bool? {
        guard reader.short() != nil, let exchange = reader.shortString(), let key = reader.shortString(),
            let flags = reader.octet()
        else { return nil }
        content.begin(exchange: exchange, routingKey: key)
        publish = Publish(
            exchange: String(wire: exchange), routingKey: String(wire: key), isMandatory: flags & 1 != 0)
        return true
    }

    private func takePublish(_ content: ContentAssembler.Content) {
        guard let publish else { return }
        connection.clientPublishes()
        guard publish.exchange.isEmpty || broker.exchange(publish.exchange) != nil else {
            return close(404, "NOT_FOUND - no exchange '\(publish.exchange)' in vhost '/'")
        }
        let behaviour = broker.behaviour
        if confirms != nil, broker.random.chance(percent: behaviour.nackPercent) {
            return confirm(positive: false)
        }
        let propertyList = Array(content.propertyList)
        let isReturned =
            publish.isMandatory
            && (broker.random.chance(percent: behaviour.returnPercent)
                || broker.route(publish.exchange, publish.routingKey).isEmpty)
        if isReturned {
            broker.returned += 1
            sendReturn(publish, propertyList, content.body)
        } else {
            _ = broker.publish(
                exchange: publish.exchange, routingKey: publish.routingKey, propertyList: propertyList,
                body: content.body)
        }
        if confirms != nil { confirm(positive: true) }
    }

    private func sendReturn(_ publish: Publish, _ propertyList: [UInt8], _ body: [UInt8]) {
        send(60, 50) { writer in
            writer.short(312)
            writer.shortString("NO_ROUTE")
            writer.shortString(publish.exchange)
            writer.shortString(publish.routingKey)
        }
        connection.sendContent(number, propertyList: propertyList, body: body)
    }

    private func confirm(positive: Bool) {
        guard let sequence = confirms?.add() else { return }
        if positive { broker.confirmed += 1 } else { broker.nacked += 1 }
        let range = broker.behaviour.confirmDelayMilliseconds
        let delay = range.lowerBound + broker.random.below(range.upperBound - range.lowerBound + 1)
        guard delay > 0 else { return decide(sequence, positive: positive) }
        broker.loop.schedule(after: .milliseconds(delay)) { [self] in decide(sequence, positive: positive) }
    }

    private func decide(_ sequence: UInt64, positive: Bool) {
        guard case .open = state else { return }
        confirms?.decide(sequence, positive: positive)
        connection.flushAtEndOfTurn()
    }

    /// Tells what was decided in this turn; called before the bytes leave.
    func sendConfirms() {
        guard case .open = state, var decided = confirms else { return }
        for confirm in decided.take(mayJoin: { broker.random.chance(percent: broker.behaviour.multipleConfirmPercent) })
        {
            send(60, confirm.positive ? 80 : 120) { writer in
                writer.longLong(confirm.sequence)
                writer.octet(confirm.multiple ? 1 : 0)
            }
        }
        confirms = decided
    }
}

extension WireReader {
    fileprivate mutating func text() -> String? {
        shortString().map { String(wire: $0) }
    }
}
