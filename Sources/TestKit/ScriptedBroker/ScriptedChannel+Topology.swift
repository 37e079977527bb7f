import AMQP

/// The methods of exchanges, queues and bindings.
extension ScriptedChannel {
    func declareExchange(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard reader.short() != nil, let name = reader.text(), let kind = reader.text(), let flags = reader.octet(),
            let arguments = reader.table()
        else { throw ArgumentsCutShort() }
        if flags & 1 != 0 {
            guard broker.exchange(name) != nil else { return notFound("exchange", name) }
        } else if let exchange = broker.exchange(name) {
            guard exchange.kind.rawValue == kind else {
                close(406, "PRECONDITION_FAILED - inequivalent arg 'type' for exchange '\(name)' in vhost '/'")
                return
            }
        } else if let kind = ExchangeKind(rawValue: kind) {
            broker.declareExchange(name, kind, arguments: arguments)
        } else {
            close(503, "COMMAND_INVALID - unknown exchange type '\(kind)'")
            return
        }
        send(.exchangeDeclareOK)
    }

    func declareQueue(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard reader.short() != nil, let name = reader.text(), let flags = reader.octet(),
            let arguments = reader.table()
        else { throw ArgumentsCutShort() }
        let isExclusive = flags & 4 != 0
        if flags & 1 != 0 {
            guard usableQueue(name) != nil else { return }
        } else if let queue = broker.queue(name), queue.owner !== (isExclusive ? connection : nil) {
            return locked(name)
        } else if let queue = broker.queue(name), queue.arguments != arguments {
            let names = (arguments.entries + queue.arguments.entries).map(\.name)
            let differing = names.first { arguments[$0] != queue.arguments[$0] } ?? ""
            close(406, "PRECONDITION_FAILED - inequivalent arg '\(differing)' for queue '\(name)' in vhost '/'")
            return
        }
        let queue = broker.declareQueue(name, arguments: arguments)
        if isExclusive { queue.owner = connection }
        send(.queueDeclareOK) { writer in
            writer.shortString(name)
            // RabbitMQ 3.10 reports no messages for a stream.
            writer.long(queue.isStream ? 0 : UInt32(queue.ready.count))
            writer.long(UInt32(queue.consumerCount))
        }
    }

    func bindQueue(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard reader.short() != nil, let queue = reader.text(), let exchange = reader.text(), let key = reader.text(),
            reader.octet() != nil, let arguments = reader.table()
        else { throw ArgumentsCutShort() }
        guard usableQueue(queue) != nil else { return }
        guard broker.exchange(exchange) != nil else { return notFound("exchange", exchange) }
        broker.bindQueue(queue, toExchange: exchange, routingKey: key, arguments: arguments)
        send(.queueBindOK)
    }

    /// Removes a binding. A missing binding is not an error.
    func unbindQueue(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard reader.short() != nil, let queue = reader.text(), let exchange = reader.text(), let key = reader.text(),
            let arguments = reader.table()
        else { throw ArgumentsCutShort() }
        guard usableQueue(queue) != nil else { return }
        guard let source = broker.exchange(exchange) else { return notFound("exchange", exchange) }
        source.bindings.removeAll { $0 == .init(key: key, destination: queue, arguments: arguments) }
        send(.queueUnbindOK)
    }

    func bindExchange(_ reader: inout WireReader, binds: Bool) throws(ArgumentsCutShort) {
        guard reader.short() != nil, let destination = reader.text(), let exchange = reader.text(),
            let key = reader.text()
        else { throw ArgumentsCutShort() }
        guard broker.exchange(destination) != nil else { return notFound("exchange", destination) }
        guard let source = broker.exchange(exchange) else { return notFound("exchange", exchange) }
        if binds {
            broker.bindExchange(destination, toExchange: exchange, routingKey: key)
        } else {
            source.bindings.removeAll { $0 == .init(key: key, destination: destination, isToExchange: true) }
        }
        send(binds ? .exchangeBindOK : .exchangeUnbindOK)
    }

    func purgeQueue(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard reader.short() != nil, let name = reader.text() else { throw ArgumentsCutShort() }
        guard let queue = usableQueue(name) else { return }
        let count = queue.purge()
        send(.queuePurgeOK) { $0.long(UInt32(count)) }
    }

    func deleteQueue(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard reader.short() != nil, let name = reader.text() else { throw ArgumentsCutShort() }
        guard broker.queue(name) == nil || usableQueue(name) != nil else { return }
        let count = broker.deleteQueue(name)
        send(.queueDeleteOK) { $0.long(UInt32(count)) }
    }
}
