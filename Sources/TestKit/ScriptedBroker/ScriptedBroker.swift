public import AMQP
public import EventLoop

/// The behavior of the scripted broker. The broker's seed determines every random choice.
public struct ScriptedBrokerBehavior: Sendable {
    /// The probability, in percent, that a channel with confirms refuses a publish with `basic.nack`.
    public var nackPercent = 0
    /// Whether a channel with confirms refuses all publishes until the channel closes. The value applies to channels
    /// that are opened later.
    ///
    /// A channel of RabbitMQ 3.10 refuses all publishes if it regards a lost node as the leader of a queue.
    public var opensRefusingChannels = false
    /// The time that a refusing channel takes for each refusal. Refusals are sequential, and the channel answers
    /// `channel.close` after the last refusal.
    public var refusalSeconds: Int64 = 0
    /// The probability, in percent, that the broker returns a mandatory publish that has a route.
    public var returnPercent = 0
    /// The delay of a confirm. The upper bound is also the time until a queue applies an acknowledgment.
    public var confirmDelayMilliseconds = 0...0
    var applyDelay: Duration { .milliseconds(confirmDelayMilliseconds.upperBound) }
    /// The probability that consecutive confirms are combined with `multiple`, in percent.
    public var multipleConfirmPercent = 50
    /// Queues that do not answer `basic.consume`, like a quorum queue without a majority.
    ///
    /// The channel then answers only `channel.close`.
    public var unansweredQueues: Set<String> = []
    /// The reply codes and texts with which queues refuse `basic.consume`, such as for a missing permission.
    public var consumeRefusals: [String: (code: UInt16, text: String)] = [:]
    /// The time that a message takes from its queue to a consumer's channel.
    ///
    /// If the consumer is canceled during this time, the message returns to its queue. The delivery counts as failed,
    /// as in RabbitMQ's quorum queues.
    public var deliveryDelay = Duration.zero
    public var heartbeatSeconds: UInt16 = 60
    public var frameBytesMax: UInt32 = 131_072
    /// The announced maximum number of channels on a connection. The broker does not enforce this number.
    public var channelMax: UInt16 = 2047
    public var credentials = AMQPCredentials(user: "guest", password: "guest")
    /// The authenticated user name, for example from a certificate or a token; nil for the login name.
    public var knownUser: String?
    /// The offered authentication mechanisms. PLAIN checks `credentials`. The others accept only an empty response.
    public var mechanisms = "PLAIN AMQPLAIN"
    public var virtualHost = "/"
    /// The product and version in the server properties.
    public var product = (name: "ScriptedBroker", version: "3.10.8")

    public init() {}
}

/// An in-memory AMQP 0-9-1 broker for tests on virtual or real time.
///
/// It implements durable queues, routing, prefetch, confirms, returns, time to live and dead-lettering like RabbitMQ
/// 3.10 with quorum queues. With the same seed and input, it behaves the same in every process.
///
/// Use a broker only on the thread of its loop. Exchanges and queues survive `crash`, except exclusive queues.
public final class ScriptedBroker {
    public let loop: EventLoop
    /// The address of the listener. Contains the actual port after the start.
    public private(set) var endpoint: Endpoint
    public var behavior: ScriptedBrokerBehavior
    /// The queues in the order of declaration.
    public private(set) var queues: [ScriptedQueue] = []
    /// The number of messages accepted from publishers.
    public private(set) var published = 0
    public internal(set) var confirmed = 0
    public internal(set) var nacked = 0
    public internal(set) var returned = 0
    /// The messages that the broker could not dead-letter, because there was no dead-letter exchange, no route, or a
    /// dead-letter cycle.
    public private(set) var dropped: [ScriptedMessage] = []
    /// The number of connections, including those that have not logged in yet.
    public var connectionCount: Int { connections.count }
    /// The total number of logins.
    public internal(set) var logins = 0
    /// The number of deliveries that clients requeued with `basic.nack` or `basic.reject`.
    public internal(set) var requeued = 0
    /// The number of channel crashes after the reuse of a consumer tag with unacknowledged deliveries.
    public internal(set) var channelCrashes = 0
    /// The closure that is called for each message that is appended to a queue.
    public var onAppend: (ScriptedQueue, ScriptedMessage) -> Void = { _, _ in }
    /// The closure that is called for each requeued message, with its updated delivery count.
    public var onRequeue: (ScriptedQueue, ScriptedMessage) -> Void = { _, _ in }
    /// The reason of the active memory or disk alarm; nil for none.
    public private(set) var alarm: String?

    var random: SeededRandom
    private var exchanges: [ScriptedExchange] = []
    private var connections: [ScriptedConnection] = []
    private var listener: ByteListener?

    public init(
        loop: EventLoop, endpoint: Endpoint = Endpoint(host: "broker", port: 5672), seed: UInt64 = 1,
        behavior: ScriptedBrokerBehavior = ScriptedBrokerBehavior()
    ) {
        self.loop = loop
        self.endpoint = endpoint
        self.behavior = behavior
        random = SeededRandom(seed: seed)
        exchanges = [
            ScriptedExchange(name: "amq.direct", kind: .direct, arguments: FieldTable()),
            ScriptedExchange(name: "amq.fanout", kind: .fanout, arguments: FieldTable()),
            ScriptedExchange(name: "amq.topic", kind: .topic, arguments: FieldTable()),
        ]
    }

    /// Starts to listen. Also restarts the broker after `crash` or `shutDown`.
    public func start() throws(TransportError) {
        guard listener == nil else { return }
        listener = try loop.listen(on: endpoint) { [self] transport in
            let connection = ScriptedConnection(broker: self)
            connections.append(connection)
            transport.handler = connection
        }
        endpoint = listener?.endpoint ?? endpoint
    }

    /// Aborts all connections and stops listening.
    ///
    /// Durable objects remain, and unacknowledged messages return to their queues.
    public func crash() {
        listener?.close()
        listener = nil
        for connection in connections { connection.cut() }
    }

    /// Closes all connections with reply code 320, as a clean shutdown does, and stops listening.
    public func shutDown() {
        listener?.close()
        listener = nil
        closeConnections()
    }

    /// Closes all connections with reply code 320 and continues to listen.
    public func closeConnections() {
        for connection in connections { connection.close(320, "CONNECTION_FORCED - broker forced connection closure") }
    }

    /// Closes all channels with an error. The connections stay open.
    public func closeChannels(_ code: UInt16, _ text: String) {
        for connection in connections { connection.closeChannels(code, text) }
    }

    /// Stops or resumes all reading and writing on the current connections, without closing the connections.
    public func setSilent(_ isSilent: Bool) {
        for connection in connections { connection.setSilent(isSilent) }
    }

    /// Raises a memory or disk alarm. Publishing connections are blocked until `clearAlarm()`.
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
        for queue in queues where queue.owner === connection { deleteQueue(queue.name) }
    }

    public func queue(_ name: String) -> ScriptedQueue? {
        queues.first { $0.name == name }
    }

    /// Declares a queue, or returns the existing queue of this name.
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

    /// Binds an exchange to another exchange.
    public func bindExchange(_ destination: String, toExchange exchange: String, routingKey: String) {
        bind(ScriptedExchange.Binding(key: routingKey, destination: destination, isToExchange: true), exchange)
    }

    private func bind(_ binding: ScriptedExchange.Binding, _ exchange: String) {
        guard let exchange = self.exchange(exchange), !exchange.bindings.contains(binding) else { return }
        exchange.bindings.append(binding)
    }

    /// Deletes a queue with its messages and cancels its consumers.
    ///
    /// Acknowledging or rejecting a delivery of a deleted queue has no effect.
    ///
    /// - Returns: The number of deleted ready messages.
    @discardableResult
    public func deleteQueue(_ name: String) -> Int {
        guard let queue = queue(name) else { return 0 }
        queues.removeAll { $0 === queue }
        for exchange in exchanges { exchange.bindings.removeAll { $0.destination == name && !$0.isToExchange } }
        queue.delete()
        return queue.purge()
    }

    /// Deletes an exchange and the bindings from it. Bindings from other exchanges to this exchange remain.
    public func deleteExchange(_ name: String) {
        exchanges.removeAll { $0.name == name }
    }

    func exchange(_ name: String) -> ScriptedExchange? {
        exchanges.first { $0.name == name }
    }

    /// Publishes a message.
    ///
    /// - Parameter deliveryCount: The initial delivery count. With a count above 0, the first delivery is marked as a
    ///   redelivery.
    /// - Returns: The number of queues that received the message.
    @discardableResult
    public func publish(
        exchange: String = "", routingKey: String, messageID: String? = nil, contentEncoding: String? = nil,
        headers: FieldTable = FieldTable(), correlationID: String? = nil, replyTo: String? = nil,
        expiration: String? = nil, timestampSeconds: UInt64? = nil, userID: String? = nil, body: [UInt8],
        deliveryCount: Int = 0
    ) -> Int {
        var writer = WireWriter()
        writer.short(
            (contentEncoding == nil ? 0 : 1 << 14) | (headers.isEmpty ? 0 : 1 << 13) | 1 << 12
                | (correlationID == nil ? 0 : 1 << 10) | (replyTo == nil ? 0 : 1 << 9)
                | (expiration == nil ? 0 : 1 << 8) | (messageID == nil ? 0 : 1 << 7)
                | (timestampSeconds == nil ? 0 : 1 << 6) | (userID == nil ? 0 : 1 << 4))
        if let contentEncoding { writer.shortString(contentEncoding) }
        if !headers.isEmpty { writer.table(headers) }
        writer.octet(2)
        for text in [correlationID, replyTo, expiration, messageID] { if let text { writer.shortString(text) } }
        if let timestampSeconds { writer.longLong(timestampSeconds) }
        if let userID { writer.shortString(userID) }
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

    /// Returns the queues for a message, without duplicates, in the order of the bindings.
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

    /// Dead-letters a message of `queue`. Drops the message if there is no dead-letter exchange, no route, or a
    /// dead-letter cycle.
    func deadLetter(_ message: ScriptedMessage, from queue: ScriptedQueue, reason: String) {
        guard let exchange = queue.arguments["x-dead-letter-exchange"]?.stringValue else {
            return dropped.append(message)
        }
        var dead = message
        let key = queue.arguments["x-dead-letter-routing-key"]?.stringValue ?? message.routingKey
        dead.die(
            of: reason, in: queue.name, unixSeconds: loop.now.unixSeconds, exchange: exchange, routingKey: key)
        var targets = route(exchange, key, dead.properties)
        if reason != "rejected" { targets.removeAll { dead.closesCycle(into: $0.name) } }
        if targets.isEmpty { dropped.append(message) }
        for target in targets { target.append(dead) }
    }
}
