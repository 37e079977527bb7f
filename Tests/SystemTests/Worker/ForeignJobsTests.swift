import AMQP
import APNS
import APNSProtocol
import BrokerTopology
import Crypto
import Delivery
import EventLoop
import TLS
import Telemetry
import TestKit
import Testing
import Threads

extension SystemTests {
    /// Jobs that other threads enqueue for a lane.
    ///
    /// A lane runs on its own thread only. A job from another thread shows that a task has left this thread.
    @Suite struct ForeignJobs {
        @Test func noJobOfALaneComesFromAnotherThread() async throws {
            #expect(try await Self.jobsFromOtherThreads(prefix: "own-thread", messages: 20_000) == 0)
        }

        @Test func aJobFromAnotherThreadIsCounted() async throws {
            let jobs = try await Self.jobsFromOtherThreads(prefix: "other-thread", messages: 200, isDisturbed: true)
            #expect(jobs > 0)
        }

        /// Returns the number of jobs that other threads enqueue between the lane's readiness and its last result.
        ///
        /// - Parameter isDisturbed: Whether a task of the global pool calls the lane once.
        private static func jobsFromOtherThreads(
            prefix: String, messages count: Int, isDisturbed: Bool = false
        ) async throws -> Int {
            let fixture = try await SystemFixture(prefix)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            // Each request has a duplicate, which waits for the first delivery.
            try await fixture.publish(Sample.make(count / 2).flatMap { [$0, $0] })
            let lane = try LaneInThisProcess(fixture, broker: AMQPURL(await PrivateBroker.shared.url))
            let before = try await lane.start()
            if isDisturbed { await lane.call() }
            let results = try await fixture.testClient.collected(fixture.queue("results"), atLeast: count)
            let jobs = lane.loop.jobsFromOtherThreads - before
            #expect(results.count == count)
            #expect(await lane.drain() == 0)
            try await fixture.end()
            return jobs
        }
    }
}

/// A lane with its own event loop and thread, as in a worker.
///
/// `@unchecked Sendable`: mutable state is written only on the loop's thread. Other threads read `lane` only after the
/// lane is ready.
private final class LaneInThisProcess: @unchecked Sendable {
    let loop: EpollLoop
    private let configuration: LaneConfiguration
    private let broker: Endpoint
    private let apns: Endpoint
    private let tls: TLSContext
    private var lane: Lane?
    private var readyContinuation: UnsafeContinuation<Int, Never>?

    init(_ fixture: SystemFixture, broker: AMQPURL) throws {
        loop = try EpollLoop()
        self.broker = broker.endpoints[0]
        apns = Endpoint(host: "127.0.0.1", port: fixture.port)
        tls = try TLSContext(
            client: TLSClientConfiguration(
                trust: .pem(String(decoding: Files.bytes(of: fixture.directory.file("ca.pem")), as: UTF8.self)),
                applicationProtocols: ["h2"], requiresApplicationProtocol: true))
        let key = try ProviderKey(
            p8PEM: Files.bytes(of: fixture.directory.file("AuthKey_DEMOKEY001.p8")), keyID: "DEMOKEY001",
            teamID: "DEMOTEAM01")
        configuration = LaneConfiguration(
            names: TopologyNames(prefix: fixture.prefix),
            broker: ConnectionConfiguration(credentials: broker.credentials), inFlightMax: 1000,
            apps: AppDirectory([
                AppDirectory.App(bundleID: "com.example.app", defaultEnvironment: .production, production: .init(0))
            ]),
            pools: [PoolConfiguration(environment: .production, key: key, authority: apns.description)],
            worker: "in this process")
    }

    /// Starts the lane and waits until it is ready.
    ///
    /// - Returns: The number of jobs that other threads have enqueued so far.
    func start() async throws -> Int {
        try DetachedThread.start { self.loop.run() }
        return await withUnsafeContinuation { continuation in
            loop.post { [self] in
                readyContinuation = continuation
                let lane = Lane(
                    loop: loop, configuration: configuration,
                    connectors: Lane.Connectors(
                        consumer: [ByteConnector(loop: loop, endpoint: broker)],
                        publisher: [ByteConnector(loop: loop, endpoint: broker)],
                        apns: [TLSConnector(loop: loop, endpoint: apns, context: tls)]),
                    counters: LaneCounters(MetricsRegistry()), duplicates: DuplicateMemory(), log: .silent,
                    onStateChange: { [self] state in
                        guard state.isReady else { return }
                        readyContinuation?.resume(returning: loop.jobsFromOtherThreads)
                        readyContinuation = nil
                    })
                self.lane = lane
                Task(executorPreference: loop) { await lane.start() }
            }
        }
    }

    /// Calls the lane from a thread of the global pool.
    func call() async {
        await Task.detached(executorPreference: globalConcurrentExecutor) { [self] in _ = await lane?.status() }.value
    }

    /// Drains the lane and stops its thread.
    ///
    /// - Returns: The number of unfinished deliveries.
    func drain() async -> Int {
        await withUnsafeContinuation { continuation in
            loop.post { [self] in
                guard let lane else { return continuation.resume(returning: 0) }
                Task(executorPreference: loop) {
                    continuation.resume(returning: await lane.drain(deadlineSeconds: 30).unfinished)
                    self.loop.stop()
                }
            }
        }
    }
}
