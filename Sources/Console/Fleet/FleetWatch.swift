import AMQP
import Actions
import BrokerTopology
import Configuration
import ControlProtocol
import Crypto
import EventLoop
import JSON

/// The console's view of the fleet. It keeps a session with the broker, and reads reports, pauses, the audit and the
/// depths of queues. After a loss, it keeps its last state and connects again. Loop-bound.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class FleetWatch: FleetSessionHandler, @unchecked Sendable {
    /// The connection to the broker.
    enum Link {
        case connected(FleetSession)
        /// No connection, with the time of the loss or of the start. The reason is nil before the first failure.
        case away(since: Now, reason: String?)
    }

    private static let retryMilliseconds: Int64 = 1000
    private static let queueSeconds: Int64 = 10
    private static let prefetch = 200
    /// Maximum memory of all reports.
    private static let viewBytesMax = 64 << 20

    let connector: BrokerConnector
    private let loop: EventLoop
    private let changes: ChangeFeed
    let topology: Topology
    private(set) var link: Link
    private var lastView = FleetView(memoryBytesMax: FleetWatch.viewBytesMax)
    /// The newest record of pauses; nil before the first record.
    private(set) var pauses: PauseRecord?
    private(set) var trail = AuditTrail()
    private(set) var queues: QueueTable
    private(set) var isClosing = false
    /// The session that is open or opening, and its readers.
    private var current: FleetSession?
    private var readers: [StreamReader] = []
    private var task: Task<Void, Never>?
    private let retry: RetryWait
    private var isReadingQueues = false
    private var queueTimer: TimerToken?
    /// Whether the depths of queues are needed.
    private let isUsed: () -> Bool

    /// - Parameter isUsed: whether an operator may look at the queues.
    init(
        _ connector: BrokerConnector, _ topology: Topology, on loop: EventLoop, changes: ChangeFeed,
        isUsed: @escaping () -> Bool
    ) {
        (self.connector, self.topology, self.loop, self.changes) = (connector, topology, loop, changes)
        self.isUsed = isUsed
        queues = QueueTable(topology)
        retry = RetryWait(on: loop)
        link = .away(since: loop.now, reason: nil)
        super.init()
    }

    var names: TopologyNames { connector.names }

    var view: FleetView {
        switch link {
        case .connected(let session): session.view
        case .away: lastView
        }
    }

    /// The open session; nil while the broker is away.
    var session: FleetSession? {
        switch link {
        case .connected(let session): session
        case .away: nil
        }
    }

    override func reportReceived() { changes.note(.fleet) }

    // MARK: Connecting

    func start() {
        task = Task(executorPreference: loop) { [self] in
            while !isClosing {
                await run()
                if !isClosing { await retry.wait(.milliseconds(Self.retryMilliseconds)) }
            }
        }
    }

    /// Opens a session, and returns after its loss.
    private func run() async {
        let session = FleetSession(connector, on: loop, command: "martlet console", view: lastView, handler: self)
        let life = ConnectionLife(on: loop) { [self] in lost($0) }
        session.connection.start(life)
        current = session
        do throws(AMQPError) {
            try await session.open()
            if !isClosing {
                link = .connected(session)
                read(session)
                changes.note(.fleet)
                readQueues()
                await life.end()
            }
        } catch {
            lost(error.message)
        }
        lastView = session.view
        if case .connected = link { link = .away(since: loop.now, reason: life.reason) }
        changes.note(.fleet)
        await session.close()
        (current, readers) = (nil, [])
    }

    /// Notes the reason why there is no connection.
    private func lost(_ reason: String) {
        guard case .away(let since, let known) = link, known != reason else { return }
        link = .away(since: since, reason: reason)
        changes.note(.fleet)
    }

    /// Closes the session, and waits for the end of all work.
    func close() async {
        isClosing = true
        if let queueTimer { loop.cancel(queueTimer) }
        queueTimer = nil
        retry.end()
        await current?.close()
        await task?.value
    }

    // MARK: Streams

    private func read(_ session: FleetSession) {
        var configuration = StreamReaderConfiguration(stream: names.pausesStream, prefetch: Self.prefetch)
        configuration.messageBytesMax = FleetLimits.recordBytesMax
        read(
            configuration, in: session,
            Records(of: names, from: .last) { [self] message in
                if let record = try? PauseRecord(json: message.body) { note(record) }
            })
        configuration.stream = names.commandsStream
        configuration.messageBytesMax = FleetLimits.auditBytesMax
        let position = trail.lastOffset.map { StreamPosition.offset($0) } ?? .first
        read(
            configuration, in: session,
            Records(of: names, from: position) { [self] message in
                guard trail.isNew(message.offset), message.routingKey.hasPrefix(AuditRecord.keyPrefix),
                    let record = try? AuditRecord(json: message.body)
                else { return }
                trail.add(record, at: message.offset)
                changes.note(.audit)
            })
    }

    /// Notes a record that the stream contains. An older record than the newest known one has no effect.
    func note(_ record: PauseRecord) {
        guard pauses.map({ record.revision.supersedes($0.revision) }) ?? true else { return }
        pauses = record
        changes.note(.pauses)
    }

    private func read(
        _ configuration: StreamReaderConfiguration, in session: FleetSession, _ handler: StreamReaderHandler
    ) {
        let reader = StreamReader(on: session.connection, configuration: configuration)
        readers.append(reader)
        reader.start(handler)
    }

    /// The receiver of a stream's messages from the exchange of operators. A producer that may publish to the default
    /// exchange can put messages into a stream.
    private final class Records: StreamReaderHandler {
        private let exchange: String
        private let start: StreamPosition
        private let receive: (StreamMessage) -> Void

        init(of names: TopologyNames, from start: StreamPosition, _ receive: @escaping (StreamMessage) -> Void) {
            (exchange, self.start, self.receive) = (names.controlExchange, start, receive)
        }

        override func position() -> StreamPosition { start }

        override func received(_ message: consuming StreamMessage) {
            let message = message
            if message.exchange == exchange, !message.isOversized { receive(message) }
        }
    }

    // MARK: Queues

    /// Reads the depths of all queues, and repeats this at an interval while an operator may look at them. Does nothing
    /// if a reading runs or is scheduled.
    func readQueues() {
        guard !isReadingQueues, queueTimer == nil, !isClosing, let session, isUsed() else { return }
        isReadingQueues = true
        // A missing queue closes the channel, which other work must not notice.
        let admin = BrokerAdmin(on: session.connection)
        admin.start()
        Task(executorPreference: loop) { [self] in
            var answers: [String: QueueTable.Answer] = [:]
            var isComplete = true
            for (name, _) in queues.queues where isComplete {
                do throws(AMQPError) {
                    let status = try await admin.status(ofQueue: name)
                    answers[name] = .status(messages: status.messages, consumers: status.consumers)
                } catch {
                    isComplete = error.code == .notFound || error.code == .accessRefused
                    answers[name] = .refused(
                        error.code == .notFound ? "missing; run: martlet topology apply" : error.message)
                }
            }
            await admin.close()
            isReadingQueues = false
            if isComplete, queues.replace(answers, at: loop.now.unixMilliseconds) { changes.note(.queues) }
            guard !isClosing, self.session != nil else { return }
            queueTimer = loop.schedule(after: .seconds(Self.queueSeconds)) { [self] in
                queueTimer = nil
                readQueues()
            }
        }
    }

    /// The number of consumers of request queues that belong to no worker that reports.
    var unreportedConsumers: Int {
        let (view, now) = (view, loop.now.monotonic)
        return names.requestQueuesAndShards.reduce(0) { sum, queue in
            sum + max(0, (queues.consumers(of: queue) ?? 0) - view.consumers(of: queue, at: now))
        }
    }
}

/// A wait before the next attempt to connect. Loop-bound.
private final class RetryWait {
    private let loop: EventLoop
    private var waiter: UnsafeContinuation<Void, Never>?

    init(on loop: EventLoop) { self.loop = loop }

    func wait(_ duration: Duration) async {
        let timer = loop.schedule(after: duration) { [self] in end() }
        await withUnsafeContinuation { waiter = $0 }
        loop.cancel(timer)
    }

    func end() { waiter.take()?.resume() }
}

/// The life of a connection, which ends with the first loss.
private final class ConnectionLife: SessionHandler {
    private let loop: EventLoop
    private let lost: (String) -> Void
    private var wasReady = false
    private var hasEnded = false
    private(set) var reason: String?
    private var waiter: UnsafeContinuation<Void, Never>?

    /// - Parameter lost: called with the reason of a missing connection.
    init(on loop: EventLoop, _ lost: @escaping (String) -> Void) { (self.loop, self.lost) = (loop, lost) }

    override func statusChanged(_ status: BrokerStatus) {
        switch status {
        case .ready: wasReady = true
        case .waiting(let error, _):
            reason = error.message
            lost(error.message)
            end(wasReady)
        case .disconnected, .connecting: end(wasReady)
        case .closed: end(true)
        case .idle, .blocked: break
        }
    }

    private func end(_ isOver: Bool) {
        guard isOver else { return }
        hasEnded = true
        waiter.take()?.resume()
    }

    /// Waits for the end of the connection.
    func end() async {
        guard !hasEnded else { return }
        await withUnsafeContinuation { waiter = $0 }
    }
}
