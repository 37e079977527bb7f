import AMQP
import EventLoop

/// Publishes, confirms and returns.
extension ScriptedChannel {
    struct Publish {
        var exchange: String
        var routingKey: String
        var isMandatory: Bool
    }

    func selectConfirms() {
        confirms = confirms ?? ScriptedConfirms()
        send(.confirmSelectOK)
    }

    func beginPublish(_ reader: inout WireReader) throws(ArgumentsCutShort) {
        guard reader.short() != nil, let exchange = reader.shortString(), let key = reader.shortString(),
            let flags = reader.octet()
        else { throw ArgumentsCutShort() }
        content.begin(exchange: exchange, routingKey: key)
        publish = Publish(
            exchange: String(wire: exchange), routingKey: String(wire: key), isMandatory: flags & 1 != 0)
    }

    func finishPublish(_ content: MessageContent) {
        guard let publish else { return }
        connection.clientPublishes()
        guard publish.exchange.isEmpty || broker.exchange(publish.exchange) != nil else {
            return close(404, "NOT_FOUND - no exchange '\(publish.exchange)' in vhost '/'")
        }
        let behavior = broker.behavior
        let user = behavior.knownUser ?? behavior.credentials.user
        if let userID = content.properties.userID, userID != user {
            let text = "user_id property set to '\(userID)' but authenticated user was '\(user)'"
            return close(406, "PRECONDITION_FAILED - \(text)")
        }
        if confirms != nil, refusesAll {
            extendBusyTime(seconds: behavior.refusalSeconds)
            return afterBusyTime { [self] in confirm(positive: false) }
        }
        if confirms != nil, broker.random.chance(percent: behavior.nackPercent) { return confirm(positive: false) }
        let propertyList = Array(content.propertyList)
        let body = Array(content.body)
        let queues = broker.route(
            publish.exchange, publish.routingKey, MessageProperties(storage: propertyList))
        if confirms != nil, queues.contains(where: \.isFull) { return confirm(positive: false) }
        let isReturned =
            publish.isMandatory
            && (broker.random.chance(percent: behavior.returnPercent) || queues.isEmpty)
        if isReturned {
            broker.returned += 1
            sendReturn(publish, propertyList, body)
        } else {
            _ = broker.publish(
                exchange: publish.exchange, routingKey: publish.routingKey, propertyList: propertyList,
                body: body)
        }
        if confirms != nil { confirm(positive: true) }
    }

    private func sendReturn(_ publish: Publish, _ propertyList: [UInt8], _ body: [UInt8]) {
        send(.basicReturn) { writer in
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
        let range = broker.behavior.confirmDelayMilliseconds
        let delay = range.lowerBound + broker.random.below(range.upperBound - range.lowerBound + 1)
        guard delay > 0 else { return decide(sequence, positive: positive) }
        broker.loop.schedule(after: .milliseconds(delay)) { [self] in decide(sequence, positive: positive) }
    }

    private func decide(_ sequence: UInt64, positive: Bool) {
        guard case .open = state else { return }
        confirms?.decide(sequence, positive: positive)
        connection.flushAfterIteration()
    }

    /// Sends the confirms that were decided since the last call.
    func sendConfirms() {
        guard case .open = state, var decided = confirms else { return }
        for confirm in decided.takeConfirms(mayJoin: {
            broker.random.chance(percent: broker.behavior.multipleConfirmPercent)
        }) {
            send(confirm.positive ? .basicAck : .basicNack) { writer in
                writer.longLong(confirm.sequence)
                writer.octet(confirm.multiple ? 1 : 0)
            }
        }
        confirms = decided
    }
}
