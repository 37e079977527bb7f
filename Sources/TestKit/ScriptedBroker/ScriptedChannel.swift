import AMQP
import EventLoop

/// One channel of a connection to the scripted broker, with its consumers, deliveries, publishes and confirms.
final class ScriptedChannel {
    enum State {
        /// Next: closing, ended.
        case open
        /// A channel that the broker has closed. It answers a `channel.close`, waits for `close-ok`, and ignores all
        /// other frames. Next: ended.
        case closing
        case ended
    }

    /// Whether a queue did not answer `basic.consume`. Never reset.
    var isStuck = false

    let number: UInt16
    unowned let connection: ScriptedConnection
    let broker: ScriptedBroker
    private(set) var state = State.open
    var prefetch = 0
    var consumers: [ScriptedConsumer] = []
    var nextTag: UInt64 = 1
    /// The messages that have left their queue and have not arrived at this channel, oldest first.
    var inTransit: [(message: ScriptedMessage, consumer: ScriptedConsumer)] = []
    /// The unacknowledged deliveries, by ascending tag.
    var unsettled: [Unsettled] = []
    /// The maximum number of acknowledgments in flight to queues. The channel keeps further acknowledgments
    /// (`rabbit_fifo_client`).
    static let unappliedMax = 32
    var unapplied = 0
    /// The deliveries whose acknowledgments the channel has kept. If the channel ends, the deliveries are requeued.
    var keptBack: [Unsettled] = []
    var publish: Publish?
    var content = ContentAssembler(bodyBytesMax: 128 << 20)
    var confirms: ScriptedConfirms?
    let refusesAll: Bool
    /// The time until which the channel is busy. The channel does its work sequentially.
    private var busyUntil: MonotonicTime

    init(number: UInt16, connection: ScriptedConnection) {
        self.number = number
        self.connection = connection
        broker = connection.broker
        refusesAll = broker.behavior.opensRefusingChannels
        busyUntil = broker.loop.now.monotonic
    }

    func send(_ method: AMQPMethod, _ arguments: (inout WireWriter) -> Void = { _ in }) {
        connection.send(method, on: number, arguments)
    }

    /// Closes the channel with an error, as a broker does.
    func close(_ code: UInt16, _ text: String) {
        guard case .open = state else { return }
        send(.channelClose) { writer in
            writer.short(code)
            writer.shortString(text)
            writer.short(0)
            writer.short(0)
        }
        state = .closing
        requeueAll()
    }

    /// Ends the channel after the channel or its connection has closed.
    func end() {
        state = .ended
        requeueAll()
    }

    private func requeueAll() {
        let ended = consumers
        for consumer in ended { consumer.queue.remove(consumer) }
        consumers = []
        confirms = nil
        // Requeue the messages in transit first. The older messages below are requeued in front of them.
        requeueInTransit { _ in true }
        settle((keptBack + unsettled).sorted { $0.tag < $1.tag }, requeue: true)
        (unsettled, keptBack) = ([], [])
        // With a single active consumer, the next consumer takes over. It receives the requeued messages first.
        for consumer in ended where consumer.queue.isSingleActive { consumer.queue.deliver() }
    }

    func receive(_ frame: Frame) {
        if case .closing = state {
            return receiveWhileClosing(frame)
        }
        switch frame.kind {
        case .heartbeat: break
        case .contentHeader: received(content.header(frame.payload))
        case .contentBody: received(content.body(frame.payload))
        case .method:
            guard !content.isBusy else { return connection.close(505, "UNEXPECTED_FRAME") }
            var reader = WireReader(frame.payload)
            guard let method = AMQPMethod(&reader) else { return connection.close(540, "NOT_IMPLEMENTED") }
            guard !isStuck || method == .channelClose else { return }
            do {
                try receive(method, &reader)
            } catch {
                connection.close(502, "SYNTAX_ERROR - \(method)")
            }
        }
    }

    private func receiveWhileClosing(_ frame: Frame) {
        var reader = WireReader(frame.payload)
        guard frame.kind == .method, let method = AMQPMethod(&reader) else { return }
        switch method {
        case .channelClose: send(.channelCloseOK)
        case .channelCloseOK: connection.remove(self)
        default: break
        }
    }

    private func received(_ step: ContentAssembler.Step) {
        switch step {
        case .incomplete: break
        case .violation: connection.close(505, "UNEXPECTED_FRAME")
        case .complete: finishPublish(content.removeContent())
        }
    }

    private func receive(_ method: AMQPMethod, _ reader: inout WireReader) throws(ArgumentsCutShort) {
        switch method {
        case .channelClose:
            afterBusyTime { [self] in
                send(.channelCloseOK)
                end()
                connection.remove(self)
            }
        case .exchangeDeclare: try declareExchange(&reader)
        case .exchangeBind: try bindExchange(&reader, binds: true)
        case .exchangeUnbind: try bindExchange(&reader, binds: false)
        case .queueDeclare: try declareQueue(&reader)
        case .queueBind: try bindQueue(&reader)
        case .queueUnbind: try unbindQueue(&reader)
        case .queuePurge: try purgeQueue(&reader)
        case .queueDelete: try deleteQueue(&reader)
        case .basicQos: try setPrefetch(&reader)
        case .basicConsume: try consume(&reader)
        case .basicCancel: try cancel(&reader)
        case .basicPublish: try beginPublish(&reader)
        case .basicGet: try get(&reader)
        case .basicAck: try acknowledge(&reader)
        case .basicReject: try reject(&reader)
        case .basicNack: try nack(&reader)
        case .confirmSelect: selectConfirms()
        default: connection.close(503, "COMMAND_INVALID - \(method)")
        }
    }

    func extendBusyTime(seconds: Int64) { busyUntil = max(busyUntil, broker.loop.now.monotonic) + .seconds(seconds) }

    /// Calls `act` when the channel has completed its earlier work, or immediately if the channel is idle.
    func afterBusyTime(_ act: @escaping () -> Void) {
        guard busyUntil > broker.loop.now.monotonic else { return act() }
        broker.loop.schedule(at: busyUntil) { [self] in
            guard case .open = state else { return }
            act()
            connection.flushAfterIteration()
        }
    }

    /// Returns a queue. Closes the channel and returns nil if the queue does not exist, or if another connection uses
    /// it exclusively.
    func usableQueue(_ name: String) -> ScriptedQueue? {
        guard let queue = broker.queue(name) else {
            notFound("queue", name)
            return nil
        }
        guard queue.owner == nil || queue.owner === connection else {
            locked(name)
            return nil
        }
        return queue
    }

    func locked(_ queue: String) {
        close(
            405,
            "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue '\(queue)' in vhost '/'. It could be "
                + "originally declared on another connection or the exclusive property value does not match that of the "
                + "original declaration.")
    }

    func notFound(_ what: String, _ name: String) {
        close(404, "NOT_FOUND - no \(what) '\(name)' in vhost '/'")
    }
}
