import AMQP
import BrokerTopology
import Configuration
import ControlProtocol
import Crypto
import EventLoop
import TestKit

/// Workers that consume a request queue, read pauses and commands, and report as workers do. Loop-bound.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class SimulatedFleet: @unchecked Sendable {
    private let loop: EpollLoop
    private var workers: [Worker] = []
    /// The number of the newest record of pauses that a worker has applied, and the time at which the last worker
    /// applied it.
    private var inForce: [Int: (count: Int, last: ContinuousClock.Instant)] = [:]

    init(_ connector: BrokerConnector, count: Int, on loop: EpollLoop) {
        self.loop = loop
        for number in 0..<count {
            workers.append(
                Worker(connector, number, on: loop) { [unowned self] revision in
                    inForce[revision] = ((inForce[revision]?.count ?? 0) + 1, .now)
                })
        }
    }

    /// Waits until each worker has applied a record, and returns its time.
    func waitForRecord(_ revision: Int) async throws -> ContinuousClock.Instant {
        try await loop.wait { [self] in inForce[revision]?.count == workers.count }
        return inForce[revision]?.last ?? .now
    }

    /// The number of the newest record that all workers have applied; nil if there is none.
    var newestRecord: Int? { inForce.filter { $0.value.count == workers.count }.keys.max() }

    func waitForFirstRecord() async throws { try await loop.wait { [self] in newestRecord != nil } }

    func close() async { for worker in workers { await worker.close() } }

    /// One worker.
    ///
    /// `@unchecked Sendable`: only the loop uses the object.
    private final class Worker: @unchecked Sendable {
        private static let intervalMilliseconds: Int64 = 10_000

        private let loop: EpollLoop
        private let connection: BrokerConnection
        private let publisher: Publisher
        private let consumer: Consumer
        private let exchange: String
        private let key: String
        private let bootID: UUIDValue
        private var readers: [StreamReader] = []
        private var status: WorkerStatus
        private var sequence = 0
        private var revision: PauseRevision?
        private var timer: TimerToken?

        init(_ connector: BrokerConnector, _ number: Int, on loop: EpollLoop, applied: @escaping (Int) -> Void) {
            self.loop = loop
            let names = connector.names
            (exchange, key) = (names.fleetExchange, "status.w\(number)")
            bootID = UUIDValue(high: 9, low: UInt64(number))
            connection = BrokerConnection(
                loop: loop, connectors: connector.connectors(on: loop),
                configuration: connector.connection(named: "worker"))
            publisher = Publisher(on: connection)
            consumer = Consumer(
                on: connection, configuration: ConsumerConfiguration(queue: WorkerFixture.requests, prefetch: 1))
            status = WorkerStatus(worker: "w\(number)")
            (status.phase, status.isReady) = (.running, true)
            let queue = WorkerStatus.ConsumedQueue(name: WorkerFixture.requests, isConsumed: true)
            let lane = WorkerStatus.LaneReport(isReady: true, wantsRequests: true, queues: [queue])
            status.lanes = [WorkerStatus.Lane(makesProgress: true, report: lane)]
            publisher.start()
            consumer.start(ConsumerHandler())
            read(names.pausesStream, from: .last) { [unowned self] message in
                guard let record = try? PauseRecord(json: message.body) else { return }
                revision = record.revision
                applied(record.revision.number)
                report()
            }
            read(names.commandsStream, from: .next) { [unowned self] message in
                if (try? FleetCommand(json: message.body)) != nil { report() }
            }
            // The workers of a fleet do not report at the same time.
            repeatReports(after: Int64(number) * 37 % Self.intervalMilliseconds)
        }

        private func read(
            _ stream: String, from position: StreamPosition, _ receive: @escaping (consuming StreamMessage) -> Void
        ) {
            let reader = StreamReader(
                on: connection, configuration: StreamReaderConfiguration(stream: stream, prefetch: 10))
            let handler = TestStreamReaderHandler { position }
            handler.onMessage = receive
            readers.append(reader)
            reader.start(handler)
        }

        private func repeatReports(after milliseconds: Int64) {
            timer = loop.schedule(after: .milliseconds(milliseconds)) { [self] in
                if revision != nil { report() }
                repeatReports(after: Self.intervalMilliseconds)
            }
        }

        private func report() {
            sequence += 1
            let report = FleetReport(
                status, bootID: bootID, sequence: sequence, sentAt: loop.now.unixMilliseconds, pauses: revision)
            let message = OutgoingMessage(
                exchange: exchange, routingKey: key, body: report.json, messageID: "r", type: FleetReport.type)
            Task(executorPreference: loop) { [self] in _ = await publisher.publish(message) }
        }

        func close() async {
            if let timer { loop.cancel(timer) }
            await connection.close()
        }
    }
}
