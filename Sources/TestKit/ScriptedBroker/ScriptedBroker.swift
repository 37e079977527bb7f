public import AMQP
public import EventLoop

/// How the scripted broker behaves; every chance follows its seed.
public struct ScriptedBrokerBehaviour: Sendable {
    /// Publishes that are refused with `basic.nack` and kept nowhere.
    public var nackPercent = 0
    /// Channels that are opened meanwhile refuse for good what is published on them, as RabbitMQ 3.10's do that take a node
    /// that is gone for a queue's leader.
    public var opensRefusingChannels = false
    /// How long each of their refusals takes, one after the other; the answer to their close comes after all.
    public var refusalSeconds: Int64 = 0
    /// Publishes that are returned although they could be routed.
    public var returnPercent = 0
    /// How long a confirm takes, and at most how long a settlement takes to be applied.
    public var confirmDelayMilliseconds = 0...0
    var applyDelay: Duration { .milliseconds(confirmDelayMilliseconds.upperBound) }
    /// How often confirms of neighbours are told as one.
    public var multipleConfirmPercent = 50
    /// Queues whose consumers are left without an answer, as by a quorum queue without a majority. Their channel hears
    /// nothing more but its close.
    public var unansweredQueues: Set<String> = []
    /// The time from a queue to the channel of a consumer. A delivery whose consumer is cancelled meanwhile returns to its
    /// queue and counts as a failed delivery, as in RabbitMQ's quorum queues.
    public var deliveryDelay = Duration.zero
    public var heartbeatSeconds: UInt16 = 60
    public var frameBytesMax: UInt32 = 131_072
    /// Channels that a connection may have.
    public var channelMax: UInt16 = 2047
    public var credentials = AMQPCredentials(user: "guest", password: "guest")
    /// The name that it knows the user by, as from a certificate or a token; nil: that of the login.
    public var knownUser: String?
    /// Those other than PLAIN take whoever comes.
    public var mechanisms = "PLAIN AMQPLAIN"
    public var virtualHost = "/"
    /// What it says that it is.
    public var product = (name: "ScriptedBroker", version: "3.10.8")

    public init() {}
}

/// An AMQP 0-9-1 broker in memory, for tests on virtual or real time: durable queues, routing, prefetch, confirms, returns,
/// time to live and dead-lettering as RabbitMQ 3.10 with quorum queues does it. Given the same seed and input it does the
/// same in every process.
///
/// Belongs to one loop and is used on its thread only. Exchanges and queues outlive `crash`.
public final class ScriptedBroker {
    public let loop: EventLoop
    /// Where it listens; with the real port once started.
    public private(set) var endpoint: Endpoint
    public var behaviour: ScriptedBrokerBehaviour
    /// In the order of declaration.
    public private(set) var queues: [ScriptedQueue] = []
    /// Messages that were taken from publishers.
    public private(set) var published = 0
    public internal(set) var confirmed = 0
    public internal(set) var nacked = 0
    public internal(set) var returned = 0
    /// Messages that ended nowhere: expired or rejected without a dead-letter exchange, or in a circle.
    public private(set) var dropped: [ScriptedMessage] = []
    /// Connections that are logged in or on the way to it.
    public var connectionCount: Int { connections.count }
    /// Logins since the beginning.
    public internal(set) var logins = 0
    /// Deliveries that consumers gave back themselves, to be delivered again.
    public internal(set) var requeued = 0
    /// Channels that crashed because a consumer tag was used again while a delivery to it was unsettled.
    public internal(set) var channelCrashes = 0
    /// Told of each message that a queue takes.
    public var onAppend: (ScriptedQueue, ScriptedMessage) -> Void = { _, _ in }
    /// Told of each delivery that was in vain, its count included.
    public var onPutBack: (ScriptedQueue, ScriptedMessage) -> Void = { _, _ in }
    /// The reason of a memory or disk alarm; see `raiseAlarm`.
    public private(set) var alarm: String?

    var random: SeededRandom
    private var exchanges: [ScriptedExchange] = []
    private var connections: [ScriptedConnection] = []
    private var listener: ByteListener?

    public init(
        loop: EventLoop, endpoint: Endpoint = Endpoint(host: "broker", port: 5672), seed: UInt64 = 1,
        behaviour: ScriptedBrokerBehaviour = ScriptedBrokerBehaviour()
    ) {
        self.loop = loop
        self.endpoint = endpoint
        self.behaviour = behaviour
        random = SeededRandom(seed: seed)
        exchanges = [
            ScriptedExchange(name: "amq.direct", kind: .direct, arguments: FieldTable()),
            ScriptedExchange(name: "amq.fanout", kind: .fanout, arguments: FieldTable()),
            ScriptedExchange(name: "amq.topic", kind: .topic, arguments: FieldTable()),
        ]
    }

    /// Listens; again after `crash`.
    public func start() throws(TransportError) {
        guard listener == nil else { return }
        listener = try loop.listen(on: endpoint) { [self] transport in
            let connection = ScriptedConnection(broker: self)
            connections.append(connection)
            transport.handler = connection
        }
        endpoint = listener?.endpoint ?? endpoint
    }

    /// Ends at once: all connections are cut, nobody listens; durable things stay, and what consumers held is put back.
    public func crash() {
        listener?.close()
        listener = nil
        for connection in connections { connection.cut() }
    }

    /// Closes all connections in order, as a broker does that shuts down (320), and listens no more.
    public func shutDown() {
        listener?.close()
        listener = nil
        closeConnections()
    }

    /// Closes all connections in order with 320, and goes on listening.
    public func closeConnections() {
        for connection in connections { connection.close(320, "CONNECTION_FORCED - broker forced connection closure") }
    }

    /// Closes all channels with an error, and keeps the connections.
    public func closeChannels(_ code: UInt16, _ text: String) {
        for connection in connections { connection.closeChannels(code, text) }
    }

    /// Neither reads nor writes any more, without closing anything; or does so again.
    public func setSilent(_ isSilent: Bool) {
        for connection in connections { connection.setSilent(isSilent) }
    }

    /// Takes no publishes until `clearAlarm`, as under a memory or disk alarm.
    public func raiseAlarm(_ reason: String) {
        alarm = reason
        for connection in connections { connection.alarmChanged() }
    }

    public func clearAlarm() {
        alarm = nil
        for connection in connections { connection.alarmChanged() }
    }

    func remove(_ connection: ScriptedConnection) {
        connections.removeAll { $0 === connection }
    }

    public func queue(_ name: String) -> ScriptedQueue? {
        queues.first { $0.name == name }
    }

    /// Declares a queue, or finds it.
    @discardableResult
    public func declareQueue(_ name: String, arguments: FieldTable = FieldTable()) -> ScriptedQueue {
        if let queue = queue(name) { return queue }
        let queue = ScriptedQueue(name: name, arguments: arguments, broker: self)
        queues.append(queue)
        return queue
    }

    public func declareExchange(_ name: String, _ kind: ExchangeKind, arguments: FieldTable = FieldTable()) {
        guard exchange(name) == nil else { return }
        exchanges.append(ScriptedExchange(name: name, kind: kind, arguments: arguments))
    }

    public func bindQueue(
        _ queue: String, toExchange exchange: String, routingKey: String, arguments: FieldTable = FieldTable()
    ) {
        bind(ScriptedExchange.Binding(key: routingKey, destination: queue, arguments: arguments), exchange)
    }

    /// From one exchange to another.
    public func bindExchange(_ destination: String, toExchange exchange: String, routingKey: String) {
        bind(ScriptedExchange.Binding(key: routingKey, destination: destination, isToExchange: true), exchange)
    }

    private func bind(_ binding: ScriptedExchange.Binding, _ exchange: String) {
        guard let exchange = self.exchange(exchange), !exchange.bindings.contains(binding) else { return }
        exchange.bindings.append(binding)
    }

    /// Deletes a queue with its messages; its consumers are cancelled. What they hold is settled without an effect.
    @discardableResult
    public func deleteQueue(_ name: String) -> Int {
        guard let queue = queue(name) else { return 0 }
        queues.removeAll { $0 === queue }
        for exchange in exchanges { exchange.bindings.removeAll { $0.destination == name && !$0.isToExchange } }
        queue.delete()
        return queue.purge()
    }

    /// Deletes an exchange with its bindings.
    public func deleteExchange(_ name: String) {
        exchanges.removeAll { $0.name == name }
    }

    func exchange(_ name: String) -> ScriptedExchange? {
        exchanges.first { $0.name == name }
    }

    /// Puts a message in as a publisher would; returns the number of queues that took it.
    ///
    /// - Parameter deliveryCount: other than 0: RabbitMQ has taken it back from a consumer that was being cancelled, which
    ///   never saw it.
    @discardableResult
    public func publish(
        exchange: String = "", routingKey: String, messageID: String? = nil, contentEncoding: String? = nil,
        headers: FieldTable = FieldTable(), correlationID: String? = nil, replyTo: String? = nil,
        expiration: String? = nil, timestampSeconds: UInt64? = nil, body: [UInt8], deliveryCount: Int = 0
    ) -> Int {
        var writer = WireWriter()
        writer.short(
            (contentEncoding == nil ? 0 : 1 << 14) | (headers.isEmpty ? 0 : 1 << 13) | 1 << 12
                | (correlationID == nil ? 0 : 1 << 10) | (replyTo == nil ? 0 : 1 << 9)
                | (expiration == nil ? 0 : 1 << 8) | (messageID == nil ? 0 : 1 << 7)
                | (timestampSeconds == nil ? 0 : 1 << 6))
        if let contentEncoding { writer.shortString(contentEncoding) }
        if !headers.isEmpty { writer.table(headers) }
        writer.octet(2)
        for text in [correlationID, replyTo, expiration, messageID] { if let text { writer.shortString(text) } }
        if let timestampSeconds { writer.longLong(timestampSeconds) }
        return publish(
            exchange: exchange, routingKey: routingKey, propertyList: writer.bytes, body: body,
            deliveryCount: deliveryCount)
    }

    func publish(
        exchange: String, routingKey: String, propertyList: [UInt8], body: [UInt8], deliveryCount: Int = 0
    ) -> Int {
        published += 1
        var message = ScriptedMessage(
            number: published, exchange: exchange, routingKey: routingKey, propertyList: propertyList, body: body)
        message.deliveryCount = deliveryCount
        let targets = route(exchange, routingKey, message.properties)
        for queue in targets { queue.append(message) }
        return targets.count
    }

    /// The queues for a message, each once, in the order of the bindings.
    func route(_ exchange: String, _ key: String, _ properties: MessageProperties) -> [ScriptedQueue] {
        guard !exchange.isEmpty else { return queue(key).map { [$0] } ?? [] }
        var visited: [String] = []
        var next: String? = exchange
        while let name = next, !visited.contains(name), let exchange = self.exchange(name) {
            visited.append(name)
            var found: [ScriptedQueue] = []
            for target in exchange.targets(for: key, properties) {
                let (name, isExchange) = (target.destination, target.isToExchange)
                let queues = isExchange ? route(name, key, properties) : queue(name).map { [$0] } ?? []
                found += queues.filter { queue in !found.contains { $0 === queue } }
            }
            if !found.isEmpty { return found }
            next = exchange.arguments["alternate-exchange"]?.stringValue
        }
        return []
    }

    /// Sends a message that died in `queue` to its dead-letter exchange; without one it is dropped.
    func deadLetter(_ message: ScriptedMessage, from queue: ScriptedQueue, reason: String) {
        guard let exchange = queue.arguments["x-dead-letter-exchange"]?.stringValue else {
            return dropped.append(message)
        }
        var dead = message
        let key = queue.arguments["x-dead-letter-routing-key"]?.stringValue ?? message.routingKey
        dead.die(
            of: reason, in: queue.name, unixSeconds: loop.now.unixSeconds, exchange: exchange, routingKey: key)
        var targets = route(exchange, key, dead.properties)
        if reason != "rejected" { targets.removeAll { dead.closesCircle(into: $0.name) } }
        if targets.isEmpty { dropped.append(message) }
        for target in targets { target.append(dead) }
    }
}
