import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension BrokerFaultTests {
    /// Failures of workers and the broker under load.
    ///
    /// No request is lost. Every request gets a result, unless the test deletes results.
    @Suite struct UnderLoad {
        private static let inFlightMax = 50
        private static let requestsOfAWorker = LongForm.pick(30_000, short: 2000)

        @Test func workersThatAreKilled() async throws {
            var workers: [ChildProcess] = []
            try await Self.underLoad("killed", workers: 3, allowsDuplicateResults: true) { load in
                for kill in 0..<LongForm.pick(10, short: 3) {
                    let results = await load.fixture.testClient.collected(load.fixture.queue("results")).count
                    try await load.fixture.testClient.collected(load.fixture.queue("results"), atLeast: results + 300)
                    load.workers[kill % 3].send(signal: SIGKILL)
                    workers.append(load.workers[kill % 3])
                    load.workers[kill % 3] = try await load.fixture.worker()
                }
            }
            for worker in workers { #expect(try await worker.exit().status == .signalled(SIGKILL)) }
        }

        @Test func connectionsThatTheBrokerCloses() async throws {
            try await Self.underLoad("closed") { load in
                for _ in 0..<LongForm.pick(10, short: 2) {
                    try await load.broker.rabbitmqctl("close_all_connections", "closed by the test")
                    try await load.workers[0].waitForLog("ready")
                }
            }
        }

        @Test func aBrokerThatRunsOutOfMemory() async throws {
            try await Self.underLoad("alarm", beforeWorkers: Self.raiseAlarm) { load in
                try await load.workers[0].waitForLog("broker connection lost")
                await load.fixture.testClient.sleep(for: .seconds(LongForm.pick(30, short: 2)))
                try await load.broker.rabbitmqctl("set_vm_memory_high_watermark", "0.4")
                try await load.workers[0].waitForLog("broker connection restored")
            }
        }

        private static func raiseAlarm(_ broker: PrivateBroker) async throws {
            try await broker.rabbitmqctl("set_vm_memory_high_watermark", "0")
        }

        @Test func aQueueOfResultsThatIsFull() async throws {
            try await Self.underLoad("full", beforeWorkers: Self.limitQueue) { load in
                // The topology's own results queue would drop its oldest results, and accept the new ones.
                try await load.fixture.testClient.bind("full.own", to: "full.results", "result.#")
                try await load.workers[0].waitForLog(
                    "publishing blocked, consumption stopped")
                await load.fixture.testClient.sleep(for: .seconds(LongForm.pick(30, short: 2)))
                await load.fixture.testClient.collect("full.own")
                try await load.broker.rabbitmqctl("clear_policy", "full")
            }
        }

        private static func limitQueue(_ broker: PrivateBroker) async throws {
            try await broker.rabbitmqctl(
                "set_policy", "full", #"^full\.own$"#, #"{"max-length":100,"overflow":"reject-publish"}"#,
                "--apply-to", "queues")
        }

        @Test func aQueueOfResultsThatIsDeletedAndDeclaredAgain() async throws {
            try await Self.underLoad("deleted", readsUnrouted: true) { load in
                for _ in 0..<LongForm.pick(10, short: 2) {
                    // Deleting the queue deletes its results. The broker still confirms results that are in flight to
                    // the queue.
                    load.lostMax +=
                        try await load.fixture.testClient.delete([load.fixture.queue("results")]) + Self.inFlightMax
                    let unrouted = await load.fixture.testClient.collected(load.fixture.queue("unrouted")).count
                    try await load.fixture.testClient.collected(load.fixture.queue("unrouted"), atLeast: unrouted + 200)
                    try await load.fixture.applyTopology()
                }
            }
        }

        /// Freezes the broker, in the short form for longer than the heartbeat timeout, in the long form for less time.
        @Test func aBrokerThatFreezes() async throws {
            try await Self.underLoad("frozen", heartbeatSeconds: LongForm.pick(nil, short: 1)) { load in
                await load.broker.pause()
                await load.fixture.testClient.sleep(for: .seconds(LongForm.pick(15, short: 5)))
                await load.broker.resume()
            }
        }

        /// The state of a run, which a disruption uses and may change.
        private final class Load {
            let fixture: SystemFixture
            let broker: PrivateBroker
            var workers: [ChildProcess]
            /// The number of results that the test itself may have deleted.
            var lostMax = 0

            init(_ fixture: SystemFixture, _ broker: PrivateBroker, _ workers: [ChildProcess]) {
                (self.fixture, self.broker, self.workers) = (fixture, broker, workers)
            }
        }

        /// Runs workers under load, disrupts them or the broker, and checks the result of every request.
        ///
        /// - Parameter beforeWorkers: Prepares the disruption before the workers start. Use this parameter for commands
        ///   that may take longer than the workers need for all requests.
        private static func underLoad(
            _ prefix: String, workers count: Int = 1, readsUnrouted: Bool = false, allowsDuplicateResults: Bool = false,
            heartbeatSeconds: Int? = nil, beforeWorkers: (PrivateBroker) async throws -> Void = { _ in },
            _ disrupt: (Load) async throws -> Void
        ) async throws {
            let broker = try await DisruptableBroker.shared
            let fixture = try await SystemFixture(
                prefix, broker: broker.url,
                SystemFixture.Options(
                    simulator: ["--delay-ms", "100"], inFlightMax: inFlightMax, delays: ["1s"],
                    heartbeatSeconds: heartbeatSeconds))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            if readsUnrouted { await fixture.testClient.collect(fixture.queue("unrouted")) }
            let samples = Sample.make(requestsOfAWorker * count)
            try await fixture.publish(samples)
            try await beforeWorkers(broker)
            var workers: [ChildProcess] = []
            for _ in 0..<count { workers.append(try await fixture.worker()) }
            try await fixture.waitForUnansweredRequests(inFlightMax * 8 / 10, counter: "in_flight_max")
            let load = Load(fixture, broker, workers)
            try await disrupt(load)

            let queues = readsUnrouted ? ["results", "unrouted"] : ["results"]
            _ = try await fixture.results(
                of: samples, lostMax: load.lostMax, in: queues, within: .seconds(LongForm.pick(600, short: 60)))
            // Up to `lostMax` requests without results may not have been pushed yet.
            try await poll(until: "a push of each request") { try fixture.recorded().count >= samples.count }
            try await fixture.waitForEmptyRequestQueues()
            var accepted = 0
            for worker in load.workers { accepted += try await worker.stop().root["message.accepted"]?.int ?? 0 }
            let results = try await fixture.allResults(in: queues)
            let unexpected = results.unexpected(samples) { $0.allSatisfy { $0.outcome == "accepted" } }
            #expect(unexpected.isEmpty, "\(unexpected.prefix(3).map { results[$0] })")
            if !allowsDuplicateResults {
                #expect(accepted == samples.count)
                let repeated = samples.filter { results[$0].count > 1 }
                #expect(repeated.isEmpty, "\(repeated.prefix(3).map { results[$0] })")
            }
            if !readsUnrouted { try await fixture.expectNothingLeft() }

            let pushes = try Pushes(await fixture.end())
            let lost = samples.filter { pushes.acceptedCount(of: $0) == 0 }
            #expect(lost.map(\.id) == [])
            let twice = samples.filter { pushes.acceptedCount(of: $0) > 1 }
            if !allowsDuplicateResults { #expect(twice.map(\.id) == []) }
            let unmarked = twice.filter { sample in !results[sample].contains { $0.isPossibleDuplicate } }
            #expect(unmarked.map(\.id) == [])
            if !twice.isEmpty { print("\(prefix): \(twice.count) of \(samples.count) pushed twice") }
        }
    }
}
