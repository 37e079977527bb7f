import APNSProtocol
import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import Telemetry
import TestKit

@testable import Delivery

/// The workers, broker and APNs of one run, on one virtual loop.
final class SimulatedWorld {
    static let workers = 2
    /// The interval of the checks for completion.
    private static let checkSeconds = 1

    let loop: VirtualLoop
    let network = SimulatedNetwork()
    let broker: ScriptedBroker
    let apns: SimulatorServer
    let publicKey: ES256PublicKey
    let settings: SimulatedSettings
    let counters = LaneCounters(MetricsRegistry())
    let topology: Topology
    var random: SeededRandom
    var report: SimulationReport
    /// The registrations and the requests to users; nil for a seed without them.
    private(set) var registrations: SimulatedRegistrations?
    /// The workers by place.
    private(set) var workers: [SimulatedWorker] = []
    private var workersMade = 0
    private var workersEnded = 0
    private var isFinished = false
    /// The number of remaining disturbances, including the scheduled deaths of workers.
    var disturbancesLeft = 0
    var publishesLeft = 0
    var apnsConnections: [(connection: VirtualConnection, worker: Int)] = []
    /// Whether APNs currently accepts the bound key in production only.
    var isKeyBound = true
    /// The indices of the requests whose dead letters were processed.
    var redriven: Set<Int> = []
    var messagesByID: [UUIDValue: [Int]] = [:]

    init(_ simulation: Simulation) throws {
        let seed = simulation.seed
        random = SeededRandom(seed: seed &* 0x2545_f491_4f6c_dd1d)
        loop = VirtualLoop(seed: seed)
        settings = SimulatedSettings(seed: seed, random: &random)
        topology = Topology(hasRegistrations: settings.hasRegistrations)
        report = SimulationReport(seed: seed, settings: settings)
        guard let publicKey = try SimulatedApps.privateKey?.publicKey() else { throw NoKey() }
        self.publicKey = publicKey
        var configuration = SimulatorConfiguration()
        configuration.answerDelay = settings.answerDelay
        configuration.requestsLoggedMax = 0
        configuration.idsRememberedMax = 1000
        var state = SimulatorState.simulated(publicKey: publicKey)
        state.rules.streamsMax = settings.streamsMax
        broker = loop.enter { [loop, settings] in
            ScriptedBroker(
                loop: loop, endpoint: SimulatedNetwork.broker, seed: seed, behavior: settings.broker)
        }
        apns = loop.enter { [loop] in SimulatorServer(loop: loop, configuration: configuration, state: state) }
        let count = settings.hasRegistrations ? simulation.messages / 6 : simulation.messages
        report.messages = SimulatedMessages(count: count, random: &random).all
        report.pushes = Array(repeating: [], count: report.messages.count)
        for (index, message) in report.messages.enumerated() { messagesByID[message.id, default: []].append(index) }
    }

    private struct NoKey: Error {}

    func run() throws -> SimulationReport {
        try loop.enter { try begin() }
        report.ending = loop.run(limit: Simulation.limit) { isFinished }
        report.history = loop.network.history.value
        report.unfinished = broker.queues.filter { !isForResults($0) && $0.ready.count + $0.unsettled > 0 }.map {
            "\($0.ready.count) ready and \($0.unsettled) unsettled in \($0.name) with \($0.consumerCount) consumers"
        }
        report.dropped = broker.dropped.count
        report.requeued = broker.requeued
        report.channelCrashes = broker.channelCrashes
        report.registrations = try loop.enter { try registrations?.finished() }
        loop.enter { for worker in workers { end(worker) } }
        _ = loop.run(limit: .seconds(60)) { workersEnded == workersMade }
        // A listening broker retains itself.
        loop.enter { broker.crash() }
        loop.end()
        return report
    }

    private func begin() throws {
        observe()
        topology.declare(at: broker)
        for queue in topology.names.requestQueues { broker.queue(queue)?.lengthMax = settings.requestsMax }
        if settings.hasRegistrations { registrations = try SimulatedRegistrations(in: self) }
        try broker.start()
        for environment in APNSEnvironment.allCases {
            for place in 0..<Self.workers {
                try apns.listen(
                    on: SimulatedNetwork.apns(environment, worker: place), as: Service(environment, .push))
            }
        }
        _ = try loop.listen(on: SimulatedNetwork.silence) { $0.handler = ByteStreamHandler() }
        workers = try (0..<Self.workers).map { try makeWorker($0) }
        schedulePublishes()
        registrations?.schedule()
        for entry in DisturbanceScript(settings, random: &random).entries { schedule(entry) }
        checkCompletion()
    }

    private func makeWorker(_ place: Int) throws -> SimulatedWorker {
        workersMade += 1
        return try SimulatedWorker(place: place, number: workersMade, in: self)
    }

    /// Starts a new worker in the place of an ended one.
    func replaceWorker(_ place: Int) {
        guard let worker = try? makeWorker(place) else { return }
        workers[place] = worker
    }

    /// Kills a worker and frees its memory.
    func kill(_ worker: SimulatedWorker) {
        worker.kill()
        if !worker.isEnding { end(worker) }
    }

    private func end(_ worker: SimulatedWorker) {
        guard !worker.isEnding else { return }
        drain(worker, deadlineSeconds: 1) {}
    }

    func drain(_ worker: SimulatedWorker, deadlineSeconds: Int, _ done: @escaping () -> Void) {
        worker.drain(deadlineSeconds: deadlineSeconds) { [unowned self] in
            workersEnded += 1
            done()
        }
    }

    private func checkCompletion() {
        isFinished = publishesLeft == 0 && disturbancesLeft == 0 && remaining == 0 && registrations?.isIdle ?? true
        loop.schedule(after: .seconds(Self.checkSeconds)) { [unowned self] in checkCompletion() }
    }

    /// The number of messages that workers have not finished.
    private var remaining: Int {
        broker.queues.reduce(0) { sum, queue in
            isForResults(queue) ? sum : sum + queue.ready.count + queue.unsettled
        }
    }

    /// Returns whether lanes consume the queue.
    func isConsumed(_ queue: ScriptedQueue) -> Bool {
        topology.names.requestQueuesAndShards.contains(queue.name)
            || [topology.names.quarantineQueue, topology.names.expiredQueue].contains(queue.name)
    }

    func isForResults(_ queue: ScriptedQueue) -> Bool {
        let names = topology.names
        return queue.name == names.resultsQueue || queue.name == names.deadQueue || queue.name == names.unroutedQueue
    }
}
