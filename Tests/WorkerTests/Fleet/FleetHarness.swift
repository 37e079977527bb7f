import AMQP
import BrokerTopology
import ControlProtocol
import Crypto
import Delivery
import EventLoop
import TestKit
import Testing

@testable import Worker

/// A test harness on virtual time: workers' parts of fleet control, a scripted broker, and an operator.
final class FleetHarness {
    /// A message of a worker.
    struct Arrival {
        let at: MonotonicTime
        let key: String
        let body: [UInt8]
    }

    let loop = VirtualLoop(seed: 1)
    let broker: ScriptedBroker
    let names = TopologyNames()
    let log: CapturedLog
    let folder: TemporaryDirectory
    private let generation: WorkerRollout.Generation
    private var workers: [FleetWorker] = []
    /// The reports and replies, oldest first.
    private(set) var arrivals: [Arrival] = []
    static let series = UUIDValue(high: 0x4000, low: 1)
    static let url = "amqp://guest:guest@broker"

    private init() throws {
        broker = ScriptedBroker(loop: loop)
        log = try CapturedLog()
        folder = try TemporaryDirectory("fleet-worker")
        try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
        generation = try FleetWorker.generation(folder, broker: Self.url)
        try loop.enter {
            Topology(names: names, hasFleetControl: true).declare(at: broker)
            broker.declareQueue("watch")
            broker.bindQueue("watch", toExchange: names.fleetExchange, routingKey: "#")
            broker.onAppend = { [unowned self] queue, message in
                guard queue.name == "watch" else { return }
                arrivals.append(Arrival(at: loop.now.monotonic, key: message.routingKey, body: message.body))
            }
            try broker.start()
        }
    }

    /// Runs a test, and closes its workers.
    static func run(_ body: (FleetHarness) throws -> Void) throws {
        let harness = try FleetHarness()
        defer { harness.end() }
        try body(harness)
    }

    private func end() {
        loop.enter { for worker in workers { worker.close() } }
        #expect(run { workers.allSatisfy(\.isClosed) })
        loop.enter {
            broker.crash()
            broker.onAppend = { _, _ in }
        }
        #expect(loop.jobsFromOtherThreads == 0)
        loop.end()
    }

    /// Starts a worker.
    ///
    /// - Parameter generation: the configuration; nil for the shortest configuration with fleet control.
    func startWorker(_ generation: WorkerRollout.Generation? = nil) throws -> FleetWorker {
        try loop.enter {
            let worker = try FleetWorker("w1", generation ?? self.generation, on: loop, log: log.log)
            workers.append(worker)
            worker.start()
            return worker
        }
    }

    /// Starts a worker, and waits until it has applied the first record of pauses.
    func startReadyWorker() throws -> FleetWorker {
        publish(PauseRecord(first: Self.series))
        let worker = try startWorker()
        try #require(run { !worker.permissions.isEmpty && broker.queue(names.commandsStream)?.consumerCount == 2 })
        return worker
    }

    /// Runs until a condition is met, for two minutes at most. Returns whether the condition is met.
    func run(until isMet: () -> Bool) -> Bool { loop.run(limit: .seconds(120), until: isMet) == .done }

    /// Lets time pass.
    func pass(seconds: Double) {
        var isOver = false
        loop.enter { _ = loop.schedule(after: .milliseconds(Int64(seconds * 1000))) { isOver = true } }
        #expect(loop.run(limit: .seconds(seconds + 1)) { isOver } == .done)
    }

    /// Returns the seconds since the start of virtual time, rounded down.
    func seconds(_ time: MonotonicTime) -> Int64 { time.nanoseconds / 1_000_000_000 - 1 }

    func stopBroker() { loop.enter { broker.crash() } }

    func startBroker() throws { try loop.enter { try broker.start() } }

    // MARK: Operator

    /// Publishes a message of an operator.
    func publish(_ body: [UInt8], key: String, exchange: String? = nil, userID: String? = "alice") {
        loop.enter {
            _ = broker.publish(
                exchange: exchange ?? names.controlExchange, routingKey: key, userID: userID, body: body)
        }
    }

    func publish(_ record: PauseRecord) { publish(record.json, key: "pauses") }

    /// Publishes a command whose id contains a number.
    func command(_ number: UInt64, _ action: FleetCommand.Action = .describe, workers: [String]? = nil) {
        let command = FleetCommand(id: Self.id(number), by: "alice", why: "test", workers: workers, action: action)
        publish(command.json, key: "command.\(action.name)")
    }

    static func id(_ number: UInt64) -> UUIDValue { UUIDValue(high: 0x4000, low: number) }

    /// Returns the current record after a pause of a topic.
    func record(
        after record: PauseRecord = PauseRecord(first: series), pause topic: String, untilSeconds: Int64? = nil
    ) throws -> PauseRecord {
        let now = loop.now.unixMilliseconds
        let pause = FleetPause(
            scope: .topic(topic), by: "alice", why: "wrong campaign", since: now,
            until: untilSeconds.map { now + $0 * 1000 })
        return try record.applying(.pause(pause), at: now)
    }

    // MARK: Worker

    /// Returns the replies to a command.
    func replies(to number: UInt64) throws -> [FleetReply] {
        try arrivals.filter { $0.key == "reply.\(Self.id(number))" }.map { try FleetReply(json: $0.body) }
    }

    func outcomes(of number: UInt64) throws -> [FleetReply.Outcome] { try replies(to: number).map(\.outcome) }

    var reports: [FleetReport] {
        get throws {
            try arrivals.filter { $0.key.hasPrefix("status.") }.map { try FleetReport(json: $0.body) }
        }
    }

    /// The number of log lines with a message since the last call.
    func count(ofLogged message: String) -> Int { log.lines().count { $0.contains(message) } }
}
