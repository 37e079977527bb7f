import AMQP
import BrokerTopology
import Crypto
import Delivery
import EventLoop
import TestKit

@testable import Configuration
@testable import Console
@testable import ControlProtocol

/// A worker that reports which pauses it has applied, and replies to probes.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class SimulatedWorker: @unchecked Sendable {
    private let connection: BrokerConnection
    private let publisher: Publisher
    private var readers: [StreamReader] = []
    private let names: TopologyNames
    private let loop: EventLoop
    private let name: String
    private let bootID: UUIDValue
    private var sequence = 0
    private var revision: PauseRevision?
    private(set) var paused: [String] = []
    var breakers: [WorkerStatus.OpenBreaker] = []
    var reasons: [String] = []
    /// Whether a probe closes the breakers.
    var repairs = true
    /// The scopes of the received probes.
    private(set) var probes: [String] = []
    private var timer: TimerToken?

    init(_ console: ConsoleHarness, bootID: UInt64 = 1, name: String? = nil) {
        loop = console.loop
        names = console.connector.names
        self.name = name ?? "w\(bootID)"
        self.bootID = UUIDValue(high: 9, low: bootID)
        connection = BrokerConnection(
            loop: loop, connectors: console.connector.connectors(on: loop),
            configuration: console.connector.connection(named: "worker"))
        publisher = Publisher(on: connection)
        publisher.start()
        read(names.pausesStream, from: .last) { [unowned self] message in
            guard let record = try? PauseRecord(json: message.body) else { return }
            revision = record.revision
            paused = record.inForce(at: loop.now.unixMilliseconds).map(\.scope.description)
            report()
        }
        read(names.commandsStream, from: .next) { [unowned self] message in
            guard let command = try? FleetCommand(json: message.body) else { return }
            if case .probe(let scope) = command.action { probe(scope, command.id) }
            report()
        }
        repeatReports()
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

    /// Reports at an interval, as a worker does, because a report is lost while the console has no queue.
    private func repeatReports() {
        timer = loop.schedule(after: .milliseconds(500)) { [self] in
            if revision != nil { report() }
            repeatReports()
        }
    }

    private func probe(_ scope: ProbeScope, _ id: UUIDValue) {
        probes.append(scope.description)
        let count = breakers.count { scope.contains(route: $0.route) }
        if repairs { breakers.removeAll { scope.contains(route: $0.route) } }
        publish(
            FleetReply(to: id, from: name, .done, probed: count).json, type: FleetReply.type, key: "reply.\(id)")
    }

    func report() {
        sequence += 1
        var status = WorkerStatus(worker: name)
        (status.version, status.phase, status.isReady) = ("0.1.0", .running, reasons.isEmpty)
        (status.breakers, status.reasons) = (breakers, reasons)
        let report = FleetReport(
            status, bootID: bootID, sequence: sequence, sentAt: loop.now.unixMilliseconds, pauses: revision)
        publish(report.json, type: FleetReport.type, key: "status.\(bootID)")
    }

    private func publish(_ body: [UInt8], type: String, key: String) {
        Task(executorPreference: loop) { [self] in
            _ = await publisher.publish(
                OutgoingMessage(
                    exchange: names.fleetExchange, routingKey: key, body: body, messageID: "r", type: type))
        }
    }

    func close() async {
        if let timer { loop.cancel(timer) }
        await connection.close()
    }
}
