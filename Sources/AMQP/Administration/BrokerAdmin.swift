public import EventLoop

/// What a queue holds.
public struct QueueStatus: Sendable, Hashable {
    public var name: String
    /// Messages that are ready: not those that consumers hold.
    public var messages: Int
    public var consumers: Int

    public init(name: String, messages: Int, consumers: Int) {
        self.name = name
        self.messages = messages
        self.consumers = consumers
    }
}

/// The types of exchange that every broker has, and one of a plugin.
public enum ExchangeKind: String, Sendable, Hashable {
    case direct, fanout, topic, headers
    /// Of the plugin `rabbitmq_consistent_hash_exchange`: each message goes to one of what is bound, the same for the same
    /// value of what the exchange hashes by.
    case consistentHash = "x-consistent-hash"
}

/// Declares, inspects and empties exchanges and queues.
///
/// A refused operation throws and leaves the next ones unharmed. Operations wait for the connection.
public final class BrokerAdmin: BrokerChannel {
    private enum Reply {
        case done
        case queue(QueueStatus)
        case count(Int)
        case message(IncomingMessage?)
    }

    private struct Call {
        var continuation: UnsafeContinuation<Result<Reply, AMQPError>, Never>
        /// For `get`.
        var queue: String
    }

    /// Bodies that `get` keeps.
    private static let messageBytesMax = 16 << 20

    private let deadlineSeconds: Int
    private var pending = FIFO<Call>()
    private var assembler: ContentAssembler
    private var arriving = (tag: UInt64(0), isRedelivered: false)

    /// - Parameter deadlineSeconds: how long an operation waits for the connection, and how long for its answer.
    public convenience init(on connection: BrokerConnection, deadlineSeconds: Int = 15) {
        self.init(on: connection, deadlineSeconds: deadlineSeconds, ownsConnection: false)
    }

    private init(on connection: BrokerConnection, deadlineSeconds: Int, ownsConnection: Bool) {
        self.deadlineSeconds = deadlineSeconds
        assembler = ContentAssembler(bodyBytesMax: Self.messageBytesMax)
        super.init(on: connection, ownsConnection: ownsConnection)
    }

    /// On a connection of its own, which `start` opens and `close` closes.
    public convenience init(
        loop: EventLoop, connectors: [ByteConnector], connection: ConnectionConfiguration, deadlineSeconds: Int = 15
    ) {
        self.init(
            on: BrokerConnection(loop: loop, connectors: connectors, configuration: connection),
            deadlineSeconds: deadlineSeconds, ownsConnection: true)
    }

    /// Declares a durable exchange. One that exists with other properties is an error (406).
    public func declareExchange(
        _ name: String, _ kind: ExchangeKind, arguments: FieldTable = FieldTable()
    ) async throws(AMQPError) {
        _ = try await call(
            .exchangeDeclare(name, type: kind.rawValue, isPassive: false, arguments: arguments))
    }

    /// Whether the broker has exchanges that hash. Nothing is declared: it is asked for one that hashes by two things at
    /// once, which the plugin refuses; without it the broker ends the connection, which is opened again.
    ///
    /// - Parameter name: that the exchange would have; it may be there, and this user need not be allowed to declare it.
    public func hashesConsistently(_ name: String) async throws(AMQPError) -> Bool {
        do {
            try await declareExchange(
                name, .consistentHash, arguments: ["hash-header": "none", "hash-property": "message_id"])
            return true
        } catch {
            if error.detail == .unknownExchangeType { return false }
            guard error.code == .preconditionFailed || error.code == .accessRefused else { throw error }
            return true
        }
    }

    /// Whether there is an exchange of this name.
    public func exchangeExists(_ name: String) async throws(AMQPError) -> Bool {
        do {
            _ = try await call(.exchangeDeclare(name, type: "", isPassive: true, arguments: FieldTable()))
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    /// Declares a durable queue. One that exists with other arguments is an error (406).
    @discardableResult
    public func declareQueue(_ name: String, arguments: FieldTable = FieldTable()) async throws(AMQPError)
        -> QueueStatus
    {
        try await queueStatus(name, passive: false, arguments: arguments)
    }

    /// What the queue holds; 404 when there is none.
    public func status(ofQueue name: String) async throws(AMQPError) -> QueueStatus {
        try await queueStatus(name, passive: true, arguments: FieldTable())
    }

    private func queueStatus(
        _ name: String, passive: Bool, arguments: FieldTable
    ) async throws(AMQPError) -> QueueStatus {
        let reply = try await call(.queueDeclare(name, isPassive: passive, arguments: arguments))
        guard case .queue(let status) = reply else { throw Self.wrongReply }
        return status
    }

    /// Whether there is a queue of this name, or a consumer behind a name of direct reply-to.
    public func queueExists(_ name: String) async throws(AMQPError) -> Bool {
        do {
            _ = try await status(ofQueue: name)
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    public func bindQueue(
        _ queue: String, toExchange exchange: String, routingKey: String, arguments: FieldTable = FieldTable()
    ) async throws(AMQPError) {
        _ = try await call(.queueBind(queue, exchange: exchange, routingKey: routingKey, arguments: arguments))
    }

    /// Takes a binding away; one that is not there is no error, as long as the queue and the exchange are.
    public func unbindQueue(_ queue: String, fromExchange exchange: String, routingKey: String) async throws(AMQPError)
    {
        _ = try await call(.queueUnbind(queue, exchange: exchange, routingKey: routingKey))
    }

    /// Has an exchange hand on to another what it would hand to a queue. A binding that is there already is no error.
    public func bindExchange(
        _ exchange: String, toExchange source: String, routingKey: String
    ) async throws(AMQPError) {
        _ = try await call(.exchangeBind(exchange, source: source, routingKey: routingKey))
    }

    /// Takes such a binding away; one that is not there is no error, as long as both exchanges are.
    public func unbindExchange(
        _ exchange: String, fromExchange source: String, routingKey: String
    ) async throws(AMQPError) {
        _ = try await call(.exchangeUnbind(exchange, source: source, routingKey: routingKey))
    }

    /// Deletes an exchange that leads nowhere; one that is not there is no error, one with bindings is (406).
    public func deleteUnusedExchange(_ name: String) async throws(AMQPError) {
        _ = try await call(.exchangeDelete(name))
    }

    /// Whether this user may publish to an exchange. Nothing is published: to take away a binding that leads there, and which
    /// is not there, asks for the same right, and then for that to read where it leads from
    /// (https://www.rabbitmq.com/docs/access-control#authorisation).
    ///
    /// The default exchange, whose name is empty, has no bindings: whoever may publish there is told so instead.
    ///
    /// Throws `notFound` where the broker looks for the exchange first and there is none.
    public func mayPublish(toExchange exchange: String) async throws(AMQPError) -> Bool {
        do {
            _ = try await call(
                .exchangeUnbind(exchange, source: Self.everyBrokersExchange, routingKey: "martlet may publish"))
            return true
        } catch {
            guard error.code == .accessRefused else { throw error }
            return exchange.isEmpty
                ? error.detail != .refusedResource(Self.defaultExchange)
                : error.detail == .refusedResource(Self.everyBrokersExchange)
        }
    }

    private static let everyBrokersExchange = "amq.direct"
    /// What permissions call the one whose name is empty.
    public static let defaultExchange = "amq.default"

    /// Whether this user may consume from a queue. Nothing is consumed: the broker refuses a priority that is no number, but
    /// only to whom may consume.
    ///
    /// Throws `notFound` when there is no such queue.
    public func mayConsume(fromQueue queue: String) async throws(AMQPError) -> Bool {
        do {
            _ = try await call(
                .basicConsume(queue: queue, consumerTag: "martlet may consume", arguments: ["x-priority": "none"]))
            return true
        } catch {
            switch error.code {
            case .preconditionFailed: return true
            case .accessRefused: return false
            default: throw error
            }
        }
    }

    /// Deletes a queue with its messages and returns their number; 0 when there is no such queue.
    @discardableResult
    public func deleteQueue(_ name: String) async throws(AMQPError) -> Int {
        let reply = try await call(.queueDelete(name))
        guard case .count(let count) = reply else { throw Self.wrongReply }
        return count
    }

    /// Deletes the messages of a queue that no consumer holds and returns their number.
    @discardableResult
    public func purge(_ queue: String) async throws(AMQPError) -> Int {
        let reply = try await call(.queuePurge(queue))
        guard case .count(let count) = reply else { throw Self.wrongReply }
        return count
    }

    /// Takes one message out of a queue, for good; `nil` when it is empty.
    public func get(from queue: String) async throws(AMQPError) -> IncomingMessage? {
        let reply = try await call(.basicGet(queue: queue), queue)
        guard case .message(let message) = reply else { throw Self.wrongReply }
        return message
    }

    private static let wrongReply = AMQPError(.protocolViolation, "the broker gave another answer than asked for")

    private func call(_ method: ClientMethod, _ queue: String = "") async throws(AMQPError) -> Reply {
        try await waitUntilReady(deadlineSeconds: deadlineSeconds)
        guard isReady, wire?.isOpen == true else { throw AMQPError(.connectionLost, "not connected") }
        guard send(method) else {
            throw AMQPError(
                .preconditionFailed, "a name is longer than 255 bytes, or the arguments do not fit one frame",
                isRetriable: false)
        }
        let timer = loop.schedule(after: .seconds(deadlineSeconds)) { [self] in
            abandon(AMQPError(.timedOut, "the broker did not answer within \(deadlineSeconds) seconds"))
        }
        defer { loop.cancel(timer) }
        return try await withUnsafeContinuation { pending.append(Call(continuation: $0, queue: queue)) }.get()
    }

    override var reopensAtOnce: Bool { true }

    override func channelOpened() {
        becomeReady()
    }

    override func channelLost(_ error: AMQPError) {
        assembler.reset()
        while let call = pending.popFirst() { call.continuation.resume(returning: .failure(error)) }
    }

    override func methodReceived(_ method: ServerMethod) -> Bool {
        guard !assembler.isBusy, !pending.isEmpty else { return false }
        switch method {
        case .exchangeDeclareOK, .exchangeBindOK, .exchangeUnbindOK, .exchangeDeleteOK, .queueBindOK, .queueUnbindOK:
            answer(.done)
        case .basicConsumeOK:
            // Nobody here consumes: what comes is given back.
            answer(.done)
            abandon(AMQPError(.closed, "the broker took a consumer that it should have refused"))
        case .queueDeclareOK(let ok):
            answer(
                .queue(
                    QueueStatus(
                        name: String(wire: ok.name), messages: Int(ok.messageCount), consumers: Int(ok.consumerCount))))
        case .queueDeleteOK(let messageCount), .queuePurgeOK(let messageCount):
            answer(.count(Int(messageCount)))
        case .basicGetEmpty:
            answer(.message(nil))
        case .basicGetOK(let delivery):
            arriving = (delivery.tag, delivery.isRedelivered)
            assembler.begin(exchange: delivery.exchange, routingKey: delivery.routingKey)
        default:
            return false
        }
        return true
    }

    private func answer(_ reply: Reply) {
        pending.popFirst()?.continuation.resume(returning: .success(reply))
    }

    override func contentHeaderReceived(_ payload: UnsafeRawBufferPointer) -> Bool {
        received(assembler.header(payload))
    }

    override func contentBodyReceived(_ payload: UnsafeRawBufferPointer) -> Bool {
        received(assembler.body(payload))
    }

    private func received(_ step: ContentAssembler.Step) -> Bool {
        switch step {
        case .incomplete: return true
        case .violation: return false
        case .complete: break
        }
        let message = IncomingMessage(
            tag: DeliveryTag(number: arriving.tag, generation: 0, bytes: 0), queue: pending.first?.queue ?? "",
            isRedelivered: arriving.isRedelivered, content: assembler.take())
        answer(.message(message))
        return true
    }
}
