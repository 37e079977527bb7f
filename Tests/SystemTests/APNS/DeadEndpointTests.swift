import TestKit
import Testing

extension SystemTests {
    /// An endpoint that is out of service, with requests that are queued ahead of requests for the other endpoint.
    @Suite struct DeadEndpoint {
        enum Outage: CaseIterable {
            case refusesConnections
            case answers503
        }

        private static let deadCount = LongForm.pick(100_000, short: 2000)
        private static let healthyCount = 100
        private static let inFlightMax = LongForm.pick(1000, short: 100)
        private static let delays = LongForm.pick(["5s", "30s", "2m", "10m"], short: ["1s", "2s"])
        private static let healthySecondsMax = LongForm.pick(60, short: 30)
        private static let recoverySecondsMax = LongForm.pick(900, short: 60)

        @Test(arguments: Outage.allCases) func healthyRequestsArePushedSoon(_ outage: Outage) async throws {
            let endpoint = try await DeadEndpointFixture(outage, delays: Self.delays, inFlightMax: Self.inFlightMax)
            let fixture = endpoint.fixture
            let dead = Sample.make(Self.deadCount, environment: "sandbox")
            let healthy = Sample.make(Self.healthyCount, from: Self.deadCount, environment: "production")
            var workers: [ChildProcess] = []
            for _ in 0..<2 { workers.append(try await fixture.worker()) }
            try await fixture.publish(dead)
            try await fixture.publish(healthy)
            let clock = ContinuousClock()
            let published = clock.now
            _ = try await workers[0].stop()
            workers[0] = try await fixture.worker()
            try await fixture.results(of: healthy, within: .seconds(Self.healthySecondsMax))
                .expectAcceptedOnFirstAttempt(healthy)
            print("\(outage): all healthy requests were accepted after \(clock.now - published)")
            for worker in workers { #expect(try worker.count(of: "APNs unreachable, consumption stopped") == 0) }

            let before = await fixture.testClient.collected(fixture.queue("results")).count
            let sandbox = try await endpoint.recover()
            let recovered = clock.now
            try await fixture.testClient.collected(fixture.queue("results"), atLeast: before + 1)
            let first = clock.now - recovered
            print("\(outage): the first request was accepted \(first) after the recovery")
            #expect(first < .seconds(10))
            let results = try await fixture.results(of: dead, within: .seconds(Self.recoverySecondsMax))
            print("\(outage): all requests were accepted \(clock.now - recovered) after the recovery")
            let unexpected = results.unexpected(dead) { $0.count == 1 && $0[0].outcome == "accepted" }
            #expect(unexpected.isEmpty, "\(unexpected.count): \(unexpected.prefix(3).map { results[$0] })")
            // Each response counts as an attempt. APNs responds to probes and to pushes that were sent before the
            // breakers opened.
            let tried = dead.count { results[$0].contains { $0.attempts > 1 } }
            #expect(
                tried <= (outage == .refusesConnections ? 0 : 3 * Self.inFlightMax), "too many attempts were counted")
            for worker in workers { _ = try await worker.stop() }
            try await fixture.expectNothingLeft()
            #expect(try await sandbox.process.terminate().status == .exited(0))
            let pushes = Pushes(try await fixture.end() + fixture.recorded(in: "sandbox"))
            #expect(pushes.notAcceptedOnce(dead + healthy) == [])
        }

        @Test func aNewWorkerPushesRequestsBehindThoseForTheDeadEndpoint() async throws {
            let endpoint = try await DeadEndpointFixture(.refusesConnections, delays: ["1h"], inFlightMax: 100)
            let fixture = endpoint.fixture
            try await fixture.publish(Sample.make(20, environment: "sandbox"))
            let healthy = Sample.make(1, from: 20, environment: "production")
            try await fixture.publish(healthy)
            let worker = try await fixture.worker()
            let clock = ContinuousClock()
            let start = clock.now
            try await fixture.results(of: healthy).expectAcceptedOnFirstAttempt(healthy)
            #expect(clock.now - start < .seconds(LongForm.pick(2, short: 5)))
            _ = try await worker.stop()
            await fixture.testClient.close()
        }
    }
}

/// A fixture whose sandbox endpoint is out of service.
private struct DeadEndpointFixture {
    let fixture: SystemFixture
    private let outage: SystemTests.DeadEndpoint.Outage
    /// The simulator of the sandbox. Its process has exited if the outage is `refusesConnections`.
    private let sandbox: SimulatorProcess

    init(_ outage: SystemTests.DeadEndpoint.Outage, delays: [String], inFlightMax: Int) async throws {
        self.outage = outage
        var options = SystemFixture.Options(inFlightMax: inFlightMax, delays: delays)
        fixture = try await SystemFixture("dead-\(outage)", options)
        sandbox = try await fixture.apns.sibling(
            options: ["--admin", "127.0.0.1:0", "--record", fixture.directory.file("sandbox")])
        options.sandboxPort = sandbox.port
        try fixture.write(options)
        try await fixture.applyTopology()
        await fixture.testClient.collect(fixture.queue("results"))
        switch outage {
        case .refusesConnections:
            try await sandbox.process.terminate()
        case .answers503:
            try await sandbox.request(
                "POST", "/v1/faults",
                #"{"id":"away","action":{"answer":{"status":503,"reason":"ServiceUnavailable"}}}"#)
        }
    }

    /// Ends the outage and returns the simulator of the sandbox.
    func recover() async throws -> SimulatorProcess {
        switch outage {
        case .refusesConnections:
            return try await sandbox.restarted(options: ["--record", fixture.directory.file("sandbox")])
        case .answers503:
            try await sandbox.request("DELETE", "/v1/faults/away")
            return sandbox
        }
    }
}
