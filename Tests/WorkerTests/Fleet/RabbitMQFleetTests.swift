import AMQP
import Actions
import BrokerManagement
import BrokerTopology
import ControlProtocol
import Crypto
import Delivery
import EventLoop
import TestKit
import Testing

@testable import Configuration
@testable import Worker

/// The control parts of many workers at a real broker, on one loop.
@Suite(.timeLimit(.minutes(20))) struct RabbitMQFleetTests {
    private static let workerCount = LongForm.pick(200, short: 20)
    private static let changeCount = LongForm.pick(1000, short: 60)
    private static let writerCount = 4

    /// Workers and operators of one topology. Loop-bound.
    ///
    /// `@unchecked Sendable`: only the loop uses the object.
    private final class Fleet: @unchecked Sendable {
        let loop: EpollLoop
        private let folder: TemporaryDirectory
        private let connector: BrokerConnector
        private let generation: WorkerRollout.Generation
        private(set) var workers: [FleetWorker] = []
        private var sessions: [FleetSession] = []

        private init(_ prefix: String, _ url: String, on loop: EpollLoop) throws {
            self.loop = loop
            folder = try TemporaryDirectory("fleet-workers")
            try folder.write("key.p8", ES256PrivateKey.generate().pkcs8PEM())
            generation = try FleetWorker.generation(
                folder, broker: url, prefix: prefix, "fleet: {report_interval: 25s}")
            connector = generation.version.components.brokerConnector
        }

        /// Runs a test with a declared topology, and closes all connections.
        static func run(
            _ prefix: String, _ body: @escaping @Sendable (Fleet) async throws -> Void
        ) async throws {
            let url = try await PrivateBroker.shared.url
            try await BrokerClients.withAdmin(url) { admin in
                let topology = Topology(names: TopologyNames(prefix: prefix), hasFleetControl: true)
                try await admin.waitUntilReady(deadlineSeconds: 30)
                var declarer = TopologyDeclarer(topology, admin: admin) { _ in }
                let failures = try await declarer.declare()
                #expect(failures == 0)
            }
            try await onEpollLoop { loop in
                let fleet = try Fleet(prefix, url, on: loop)
                let result: Result<Void, any Error>
                do {
                    let isFirst = try await PauseWriter(try await fleet.session()).writeFirst()
                    #expect(isFirst)
                    result = .success(try await body(fleet))
                } catch {
                    result = .failure(error)
                }
                for worker in fleet.workers { worker.close() }
                try await loop.wait { fleet.workers.allSatisfy(\.isClosed) }
                for session in fleet.sessions { await session.close() }
                try result.get()
            }
        }

        /// Starts workers, and waits until they may consume requests.
        @discardableResult
        func startWorkers(_ count: Int) async throws -> [FleetWorker] {
            var started: [FleetWorker] = []
            for _ in 0..<count {
                let worker = try FleetWorker("w\(workers.count + 1)", generation, on: loop)
                workers.append(worker)
                started.append(worker)
                worker.start()
            }
            try await loop.wait { started.allSatisfy { !$0.permissions.isEmpty } }
            return started
        }

        /// Connects an operator.
        func session() async throws -> FleetSession {
            let session = FleetSession(connector, on: loop, command: "tests")
            sessions.append(session)
            try await session.open()
            return session
        }

        /// Waits until a revision is in force in each worker. Returns the milliseconds since a time.
        func wait(for record: PauseRecord, since start: MonotonicTime) async throws -> Int {
            try await loop.wait { [self] in workers.allSatisfy { $0.pauses.revision == record.revision } }
            return Int(start.duration(to: loop.now.monotonic) / .milliseconds(1))
        }
    }

    // Goal 1 of section G of the design.
    @Test func `A pause is in force at all workers within a second, and ends everywhere`() async throws {
        try await Fleet.run("fleet.many") { fleet in
            try await fleet.startWorkers(Self.workerCount)
            let session = try await fleet.session()
            let scope = PauseScope.topic("com.example.app")
            func change(_ effect: PauseAction.Effect, isPaused: Bool) async throws -> Int {
                let start = fleet.loop.now.monotonic
                let record = try await PauseAction(scope, effect).write(in: session, by: "alice")
                let milliseconds = try await fleet.wait(for: record, since: start)
                #expect(fleet.workers.allSatisfy { $0.paused == (isPaused ? ["topic com.example.app"] : []) })
                if LongForm.isOn { #expect(milliseconds <= 1000) }
                return milliseconds
            }
            let paused = try await change(.pause(why: "wrong campaign", seconds: nil), isPaused: true)
            // A worker that restarts may consume only once it is paused.
            let late = try await fleet.startWorkers(1)
            #expect(late[0].paused == ["topic com.example.app"] && late[0].pauses.status?.reason == nil)
            let resumed = try await change(.resume, isPaused: false)
            print("fleet: \(Self.workerCount) workers paused in \(paused) ms, resumed in \(resumed) ms")

            _ = try await change(.pause(why: "wrong campaign", seconds: 2), isPaused: true)
            try await fleet.loop.wait { fleet.workers.allSatisfy(\.paused.isEmpty) }
            // Each worker ended the pause by its clock, without a record.
            #expect(Set(fleet.workers.map { $0.pauses.revision?.number }) == [3])
        }
    }

    // Goal 2 of section G of the design.
    @Test func `Concurrent writers leave the same pauses in early and late workers`() async throws {
        try await Fleet.run("fleet.writers") { fleet in
            try await fleet.startWorkers(5)
            let start = fleet.loop.now.monotonic
            var writers: [Task<Int, any Error>] = []
            for number in 0..<Self.writerCount {
                let session = try await fleet.session()
                nonisolated(unsafe) let writer = PauseWriter(session)
                let loop = fleet.loop
                writers.append(
                    Task(executorPreference: loop) {
                        try await Self.write(Self.changeCount / Self.writerCount, by: number, writer, on: loop)
                    })
            }
            try await fleet.startWorkers(5)
            var effects = 0
            for writer in writers { effects += try await writer.value }
            try await fleet.startWorkers(5)
            try await fleet.loop.wait { fleet.workers.allSatisfy { $0.pauses.revision?.number == effects } }
            let milliseconds = Int(start.duration(to: fleet.loop.now.monotonic) / .milliseconds(1))
            print("fleet: \(Self.changeCount) changes by \(Self.writerCount) writers in \(milliseconds) ms")
            let sets = Set(fleet.workers.map(\.paused))
            let notes = Set(fleet.workers.map { Set($0.local.pauses.map { "\($0.scope) \($0.note)" }) })
            #expect(sets.count == 1 && notes.count == 1)
            #expect(effects > Self.changeCount / 4)
            // The record itself, as a further reader sees it.
            let session = try await fleet.session()
            let last = try await PauseAction(.topic("com.example.last"), .pause(why: "last", seconds: nil))
                .write(in: session, by: "alice")
            #expect(last.revision.number == effects + 1)
            let expected = Set(last.pauses.map(\.scope.description)).subtracting(["topic com.example.last"])
            #expect(sets.first == expected)
        }
    }

    /// Makes random changes. Returns the number of changes with an effect.
    private static func write(
        _ count: Int, by writer: Int, _ pauses: PauseWriter, on loop: EventLoop
    ) async throws -> Int {
        var random = SeededRandom(seed: UInt64(writer + 1))
        var effects = 0
        for number in 0..<count {
            let scope = PauseScope.topic("com.example.\(random.below(8))")
            let now = loop.now.unixMilliseconds
            let change: PauseRecord.Change =
                random.chance(percent: 60)
                ? .pause(FleetPause(scope: scope, by: "writer \(writer)", why: "change \(number)", since: now))
                : .resume(scope)
            do throws(PauseWriter.Failure) {
                _ = try await pauses.write(change)
                effects += 1
            } catch {
                guard case .violation(let violation) = error, violation.code == .notPaused else { throw error }
            }
        }
        return effects
    }
}
