package import AMQP
import BrokerTopology
package import Configuration
package import ControlProtocol
import Crypto
package import EventLoop

/// A session of an operator's program with the workers of a fleet. It sends commands and receives reports.
///
/// The session has its own connection and an exclusive queue at the broker, which the broker deletes with the
/// connection. Loop-bound.
package final class FleetSession {
    /// Maximum number of reports and replies that wait at the broker. The broker drops the oldest beyond this number.
    private static let messagesMax: Int64 = 2000
    private static let messageMillisecondsMax: Int64 = 30_000
    private static let prefetch = 200
    /// The broker frees the locks of a vanished program after two to three heartbeat intervals.
    private static let heartbeatSeconds = 5
    /// Maximum wait for the reports of workers.
    private static let reportsMillisecondsMax = 2000
    private static let checkMilliseconds = 100
    /// Maximum time to connect, to publish a command, and for each answer of the broker.
    private static let brokerSecondsMax = 15

    package let connection: BrokerConnection
    let connector: BrokerConnector
    let admin: BrokerAdmin
    let publisher: Publisher
    let names: TopologyNames
    private let consumer: Consumer
    private let queue: String
    /// The reports that the session has received.
    package private(set) var view: FleetView
    /// The replies to the last command that awaits replies, by worker.
    private var replies: [String: FleetReply] = [:]
    private var awaitedID: UUIDValue?
    private let arrivals: ArrivalWait
    private weak var handler: FleetSessionHandler?

    package var loop: EventLoop { connection.loop }

    /// - Parameters:
    ///   - command: the name of the connection, such as `martlet status`.
    ///   - view: the reports of an earlier session.
    ///   - handler: receives the changes of the view. The session does not retain the handler.
    package init(
        _ connector: BrokerConnector, on loop: EventLoop, command: String, view: FleetView = FleetView(),
        handler: FleetSessionHandler? = nil
    ) {
        (self.connector, self.view, self.handler) = (connector, view, handler)
        names = connector.names
        arrivals = ArrivalWait(on: loop)
        queue = names.watchQueuePrefix + String(loop.nextRandom(), radix: 36)
        var settings = connector.connection(named: command)
        settings.heartbeatSeconds = Self.heartbeatSeconds
        connection = BrokerConnection(loop: loop, connectors: connector.connectors(on: loop), configuration: settings)
        admin = BrokerAdmin(on: connection, deadlineSeconds: Self.brokerSecondsMax)
        var configuration = PublisherConfiguration()
        configuration.publishTimeoutSeconds = Self.brokerSecondsMax
        configuration.confirmTimeoutSeconds = Self.brokerSecondsMax
        publisher = Publisher(on: connection, configuration: configuration)
        consumer = Consumer(
            on: connection, configuration: ConsumerConfiguration(queue: queue, prefetch: Self.prefetch))
    }

    /// Connects without receiving reports.
    package func start() {
        admin.start()
        publisher.start()
    }

    /// Connects, and begins to receive reports.
    package func open() async throws(AMQPError) {
        start()
        await findReplica()
        try await admin.declareExclusiveQueue(
            queue,
            arguments: [
                "x-max-length": .integer(Self.messagesMax), "x-message-ttl": .integer(Self.messageMillisecondsMax),
            ])
        try await admin.bindQueue(queue, toExchange: names.fleetExchange, routingKey: "status.#")
        consumer.start(Messages(self))
    }

    /// Changes the host of the connection until the node has a replica of the stream of pauses. Returns after another
    /// refusal or a timeout, too, because later steps report it.
    func findReplica() async {
        guard connector.endpoints.count > 1 else { return }
        let search = ReplicaSearch(on: loop)
        let reader = StreamReader(
            on: connection, configuration: StreamReaderConfiguration(stream: names.pausesStream, prefetch: 1))
        reader.start(search)
        await search.wait.wait(milliseconds: Self.brokerSecondsMax * 1000) { search.isDone }
        await reader.close()
    }

    private final class ReplicaSearch: StreamReaderHandler {
        let wait: ArrivalWait
        private(set) var isDone = false

        init(on loop: EventLoop) { wait = ArrivalWait(on: loop) }

        override func attached() { finish() }

        override func statusChanged(_ status: BrokerStatus) {
            if case .waiting(let error, _) = status, error.code != .preconditionFailed { finish() }
        }

        private func finish() {
            isDone = true
            wait.notify()
        }
    }

    private final class Messages: ConsumerHandler {
        private unowned let session: FleetSession

        init(_ session: FleetSession) { self.session = session }

        override func delivered(_ message: consuming IncomingMessage) {
            session.consumer.acknowledge(message.tag)
            session.received(message)
        }
    }

    private func received(_ message: IncomingMessage) {
        // Only workers may publish to the exchange of the fleet.
        guard message.exchange == names.fleetExchange else { return }
        var receipt = FleetView.Receipt.outdated
        if message.properties.type == FleetReply.type {
            guard let reply = try? FleetReply(json: message.body), reply.id == awaitedID,
                replies[reply.worker] != nil || replies.count < FleetLimits.workersMax
            else { return }
            replies[reply.worker] = reply
        } else {
            receipt = view.receive(message.body, at: loop.now.monotonic)
        }
        arrivals.notify()
        if receipt == .accepted { handler?.reportReceived() }
    }

    /// Sends a command. Waits until each of the workers has replied, or until the time has passed.
    ///
    /// - Returns: the replies, by worker.
    func send(
        _ command: FleetCommand, awaiting workers: Set<String>, milliseconds: Int
    ) async throws(AMQPError) -> [String: FleetReply] {
        (awaitedID, replies) = (command.id, [:])
        defer { (awaitedID, replies) = (nil, [:]) }
        try await admin.bindQueue(queue, toExchange: names.fleetExchange, routingKey: "reply.\(command.id)")
        try await publish(command.json, type: FleetCommand.type, key: "command.\(command.action.name)")
        await arrivals.wait(milliseconds: milliseconds) { workers.isSubset(of: replies.keys) }
        return replies
    }

    /// Waits until the reports satisfy a condition, or until the time has passed.
    func wait(milliseconds: Int, until isComplete: () -> Bool) async {
        await arrivals.wait(milliseconds: milliseconds, until: isComplete)
    }

    /// Requests a report from each worker, now and then each second for this time.
    func requestReports(by operatorName: String, seconds: Int = 0) async throws(AMQPError) {
        let command = FleetCommand(
            id: UUIDValue(randomOf: loop), by: operatorName, action: .report(seconds: seconds))
        try await publish(command.json, type: FleetCommand.type, key: "command.report")
    }

    package func publish(_ body: [UInt8], type: String, key: String) async throws(AMQPError) {
        guard publisher.userID != nil else {
            throw AMQPError(
                .refused, "fleet control needs a user name in amqp.url or amqp.username, which the broker verifies",
                isRetriable: false)
        }
        var message = OutgoingMessage(
            exchange: names.controlExchange, routingKey: key, body: body,
            messageID: String(loop.nextRandom(), radix: 36), type: type)
        message.carriesUserID = true
        try await publish(message)
    }

    /// Publishes a message, and waits for the broker's confirm.
    func publish(_ message: OutgoingMessage) async throws(AMQPError) {
        switch await publisher.publish(message) {
        case .confirmed: return
        case .returned:
            throw AMQPError(
                .notFound,
                "exchange \(message.exchange) routes \(message.routingKey) to no queue; run: martlet topology apply",
                isRetriable: false)
        case .nacked: throw AMQPError(.refused, "the broker refused a message to \(message.exchange)")
        case .unknown(let error), .notSent(let error): throw error
        case .refused(let refusal): throw AMQPError(.preconditionFailed, refusal.rawValue, isRetriable: false)
        }
    }

    /// Returns the number of consumers of the request queues and their shards that belong to no worker that reports.
    private func unreportedConsumers() async throws(AMQPError) -> Int {
        var count = 0
        // The queues are compared one by one, because the surplus of one queue would hide a consumer of another.
        for queue in names.requestQueuesAndShards {
            do throws(AMQPError) {
                let consumers = try await admin.status(ofQueue: queue).consumers
                count += max(0, consumers - view.consumers(of: queue, at: loop.now.monotonic))
            } catch {
                guard error.code == .notFound else { throw error }
            }
        }
        return count
    }

    /// Requests a report from each worker. Waits until a worker has reported, and each consumer at the broker belongs
    /// to a worker that has reported. Ends when the time has passed. If the program may not send commands, or the
    /// stream of commands is missing, waits for the regular reports.
    ///
    /// - Returns: the number of consumers that belong to no worker that reports.
    package func collectReports(by operatorName: String) async throws(AMQPError) -> Int {
        var end = loop.now.monotonic + .milliseconds(Self.reportsMillisecondsMax)
        do throws(AMQPError) {
            try await requestReports(by: operatorName)
        } catch {
            guard error.code == .accessRefused || error.code == .notFound else { throw error }
            end = loop.now.monotonic + .seconds(FleetView.silentSeconds)
        }
        var unreported = try await unreportedConsumers()
        while unreported > 0 || view.isEmpty, loop.now.monotonic < end {
            await arrivals.wait(milliseconds: Self.checkMilliseconds) { false }
            unreported = try await unreportedConsumers()
        }
        return unreported
    }

    /// Waits until the record is in force in each worker that reports, or until the time has passed.
    package func waitForCoverage(of revision: PauseRevision) async -> FleetView.Coverage {
        func coverage() -> FleetView.Coverage { view.coverage(of: revision, at: loop.now.monotonic) }
        await arrivals.wait(milliseconds: Self.reportsMillisecondsMax) { coverage().missing.isEmpty }
        return coverage()
    }

    package func close() async { await connection.close() }
}
