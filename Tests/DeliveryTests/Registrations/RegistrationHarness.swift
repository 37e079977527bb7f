import AMQP
import APNSProtocol
import BrokerTopology
import Crypto
import EventLoop
import JSON
import Registrations
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A consumer of registration commands with a scripted broker and a store in memory, on virtual time.
final class RegistrationHarness {
    static let app = "com.example.app"
    static let replyQueue = "shop.replies"
    /// The user whose registrations make a `TestWriter` fail the batch with a data fault.
    static let poisonousUser = "poison"

    let loop = VirtualLoop(seed: 1)
    let names = TopologyNames()
    let broker: ScriptedBroker
    let store: SimulatedStore
    let metrics = MetricsRegistry()
    let writer: TestWriter
    private let service: RegistrationConsumer
    private let state = State()

    /// The number of unfinished calls of `close`.
    ///
    /// `@unchecked Sendable`: used only on the thread that runs the loop.
    private final class State: @unchecked Sendable {
        var closing = 0
    }

    /// Creates a harness.
    ///
    /// - Parameter storeFault: The fault of the store at the start. If the fault is nil, waits until the consumer is
    ///   ready.
    init(
        replyPrefix: String? = "shop.", devicesPerUserMax: Int = 100, log: Log = .silent, storeFault: StoreFault? = nil
    ) throws {
        let keys = try RegistrationKeys(json: try RegistrationKeys.generatedFile(), source: "test")
        let (loop, names, metrics) = (loop, names, metrics)
        (broker, store, writer, service) = try loop.enter {
            let broker = ScriptedBroker(loop: loop)
            Topology(names: names).declare(at: broker)
            broker.declareRegistrations(names)
            broker.declareQueue(Self.replyQueue)
            try broker.start()
            let store = try SimulatedStore(on: loop, keys: keys)
            store.fault = storeFault
            let writer = TestWriter(store.writer())
            let service = RegistrationConsumer(
                consuming: Self.connection(broker), publishing: Self.connection(broker), writer: writer, names: names,
                replyPrefix: replyPrefix, devicesPerUserMax: devicesPerUserMax, metrics: metrics, log: log,
                worker: "tested",
                completeRemedy: { $0.replacing("topology apply", with: "topology apply --config a.yaml") },
                environment: { app, environment throws(CommandViolation) in
                    guard app == Self.app else {
                        throw CommandViolation(.app, "unknown", path: "/app", "No such app is configured.")
                    }
                    return environment ?? .sandbox
                })
            service.start()
            return (broker, store, writer, service)
        }
        guard storeFault == nil else { return }
        let hasBegun = run { isReady }
        try #require(hasBegun)
    }

    private static func connection(_ broker: ScriptedBroker) -> BrokerConnection {
        BrokerConnection(
            loop: broker.loop, connectors: [ByteConnector(loop: broker.loop, endpoint: broker.endpoint)],
            configuration: ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest")))
    }

    /// Closes the consumer and the broker, so that the leak sanitizer reports nothing.
    deinit {
        close(deadlineSeconds: 1)
        loop.enter { broker.crash() }
        _ = loop.run(limit: .seconds(60), until: { false })
    }

    func run(until isDone: () -> Bool) -> Bool { loop.run(limit: .seconds(7200), until: isDone) == .done }

    func pass(seconds: Int64) {
        let end = loop.now.monotonic + .seconds(seconds)
        _ = run { loop.now.monotonic >= end }
    }

    func onLoop(_ body: () throws -> Void) rethrows { try loop.enter(body) }

    var status: RegistrationConsumer.Status { service.status }
    var isReady: Bool {
        status.isConsuming && status.isPublishing && status.isStoring && queue.consumerCount == 1
    }
    var now: Int64 { loop.now.unixMilliseconds }
    var queue: ScriptedQueue { broker.queue(names.registrationsQueue)! }
    var isDrained: Bool { queue.ready.isEmpty && queue.unsettled == 0 }
    var liveRows: Int { store.rows.values.count { $0.details != nil } }
    var replies: [ScriptedMessage] { Array(broker.queue(Self.replyQueue)?.ready ?? []) }
    var results: [ScriptedMessage] { Array(broker.queue(names.resultsQueue)?.ready ?? []) }
    var deadLetters: [ScriptedMessage] { Array(broker.queue(names.deadQueue)?.ready ?? []) }

    func outcomes() throws -> [String?] { try replies.map { try JSONDocument($0.body).root["outcome"]?.string } }

    func events() throws -> [String?] { try results.map { try JSONDocument($0.body).root["event"]?.string } }

    static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.utf8.count) + digits
    }

    /// Returns the body of a `register` command.
    ///
    /// - Parameter age: The time since the registration, in milliseconds.
    func register(_ token: Int, user: String, age: Int64 = 0, deviceID: String? = nil, app: String = app) -> String {
        let device = deviceID.map { #","device_id":"\#($0)""# } ?? ""
        return #"{"command":"register","app":"\#(app)","user":"\#(user)","device_token":"\#(Self.token(token))","#
            + #""registered_at":\#(now - age)\#(device)}"#
    }

    /// Publishes a command.
    ///
    /// - Parameter number: The number in the message-id and the correlation-id.
    func send(
        _ number: Int, _ body: String, replyTo: String? = nil, contentEncoding: String? = nil,
        timestampSeconds: UInt64? = nil
    ) {
        loop.enter {
            _ = broker.publish(
                exchange: names.registrationsExchange, routingKey: "registration.\(Self.app)",
                messageID: LaneAPNSHarness.id(number), contentEncoding: contentEncoding,
                correlationID: "command \(number)", replyTo: replyTo, timestampSeconds: timestampSeconds,
                body: Array(body.utf8))
        }
    }

    /// Applies the bodies of commands as one change of an operator.
    func apply(_ bodies: [String], _ completed: @escaping (Result<[CommandOutcome], StoreFault>) -> Void) throws {
        try loop.enter {
            let commands = try bodies.map { body in
                try ReceivedCommand(
                    Array(body.utf8), messageID: .random(), from: .queue, now: now, environment: { _, _ in .sandbox }
                ).command
            }
            service.apply(commands, ends: [], completed)
        }
    }

    /// Publishes a message as the user of the worker.
    func publish(_ message: OutgoingMessage) {
        loop.enter { [loop, broker] in
            // Both objects are used only on the thread that runs the loop.
            nonisolated(unsafe) let connection = Self.connection(broker)
            nonisolated(unsafe) let publisher = Publisher(on: connection)
            publisher.start()
            _ = Task(executorPreference: loop) {
                _ = await publisher.publish(message)
                await connection.close(deadlineSeconds: 1)
            }
        }
    }

    /// Cuts the connection with this index to the broker. Cuts all connections to the broker if `index` is nil.
    func cut(_ index: Int? = nil) {
        loop.enter {
            let connections = loop.network.connections.filter { $0.endpoint == broker.endpoint }
            for connection in index.map({ [connections[$0]] }) ?? connections { connection.cut() }
        }
    }

    func beginClosing(deadlineSeconds: Int) {
        state.closing += 1
        loop.enter { [loop, service, state] in
            _ = Task(executorPreference: loop) {
                await service.close(deadlineSeconds: deadlineSeconds)
                state.closing -= 1
            }
        }
    }

    var isClosed: Bool { state.closing == 0 }

    func close(deadlineSeconds: Int = 10) {
        beginClosing(deadlineSeconds: deadlineSeconds)
        _ = run { isClosed }
    }
}

/// A writer that can fail single transactions, and records the sizes of batches.
final class TestWriter: RegistrationWriter {
    private let writer: RegistrationWriter
    /// The faults of the next transactions, in order. The writer remains ready.
    var faults: [StoreFault] = []
    /// The faults of the next deletions of events, in order.
    var faultsOfDeletions: [StoreFault] = []
    /// The maximum number of commands that a batch can have without exceeding a time limit of the server.
    var commandsMax = Int.max
    /// A closure that is called before each batch and each deletion of events.
    var began: () -> Void = {}
    private(set) var batchSizes: [Int] = []
    private(set) var rounds = 0
    /// The data key that the next rounds of maintenance report as missing; nil for none.
    var omittedKey: MissingDataKey?
    /// The number of further rounds of maintenance that are reported as incomplete.
    var incompleteRounds = 0

    init(_ writer: RegistrationWriter) { self.writer = writer }

    override func start(onChange: @escaping (StoreFault?) -> Void) { writer.start(onChange: onChange) }

    override func apply(_ batch: CommandBatch) {
        began()
        batchSizes.append(batch.commands.count)
        if let fault = nextFault() { return batch.failed(fault) }
        guard batch.commands.count <= commandsMax else {
            return batch.failed(StoreFault(.unreachable, "The statement took too long.", errorClass: "57"))
        }
        if batch.commands.contains(where: { $0.isPoisonous }) {
            return batch.failed(StoreFault(.data, "a value is faulty", errorClass: "22"))
        }
        writer.apply(batch)
    }

    override func delete(_ events: EventDeletion) {
        began()
        if let fault = nextFault() { return events.failed(fault) }
        guard faultsOfDeletions.isEmpty else { return events.failed(faultsOfDeletions.removeFirst()) }
        writer.delete(events)
    }

    override func maintain(_ maintenance: Maintenance) {
        rounds += 1
        if let fault = nextFault() { return maintenance.failed(fault) }
        if let omittedKey { maintenance.omitted(omittedKey) }
        guard incompleteRounds > 0 else { return writer.maintain(maintenance) }
        incompleteRounds -= 1
        maintenance.completed([], isComplete: false)
    }

    override func close() async { await writer.close() }

    private func nextFault() -> StoreFault? { faults.isEmpty ? nil : faults.removeFirst() }
}

extension RegistrationCommand {
    fileprivate var isPoisonous: Bool {
        if case .register(let registration) = self {
            registration.user == RegistrationHarness.poisonousUser
        } else {
            false
        }
    }
}

extension ScriptedBroker {
    /// Declares the exchange and the queue of registration commands, and binds the queue.
    func declareRegistrations(_ names: TopologyNames) {
        declareExchange(names.registrationsExchange, .topic)
        declareQueue(
            names.registrationsQueue, arguments: ["x-dead-letter-exchange": .string(names.brokerDeadLettersExchange)])
        bindQueue(
            names.registrationsQueue, toExchange: names.registrationsExchange, routingKey: "#", arguments: FieldTable())
    }
}
