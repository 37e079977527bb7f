import JSON
import TestKit
import Testing

extension SystemTests {
    /// APNs is away, or somebody else is in its place, while messages wait.
    @Suite struct APNSAway {
        enum Trouble: CaseIterable {
            case away
            /// A server that the worker has no reason to trust.
            case stranger
        }

        private static let samples = LongForm.pick(20_000, short: 600)
        private static let outageSeconds = LongForm.pick(180, short: 2)
        private static let inFlightMax = 100
        private static let answerMilliseconds = 100
        private static let firstPushSecondsMax = 10

        @Test(arguments: Trouble.allCases)
        func theBacklogStaysWhereItIsUntilItIsBack(_ trouble: Trouble) async throws {
            let prefix = "apns-\(trouble)"
            let fixture = try await SystemFixture(
                prefix,
                SystemFixture.Options(
                    simulator: ["--delay-ms", "\(Self.answerMilliseconds)"], inFlightMax: Self.inFlightMax,
                    delays: ["1s", "2s"], hasSandbox: true))
            try await fixture.applyTopology()
            try await fixture.testClient.overhear(fixture.waitQueues, as: "\(prefix).overheard")
            await fixture.testClient.collect(fixture.queue("results"))
            let samples = Sample.make(Self.samples)
            try await fixture.publish(samples)
            let worker = try await fixture.worker()
            try await fixture.testClient.collected(fixture.queue("results"), atLeast: Self.inFlightMax)

            try await fixture.simulator.terminate()
            let linesBefore = try worker.logged.count
            let stranger = trouble == .stranger ? try await fixture.apns.again(isTrusted: false) : nil
            try await worker.said("APNs unreachable, consumption stopped")
            // Those of both endpoints.
            for _ in 0..<2 { try await worker.said("breaker opened, pushes held") }
            await fixture.testClient.pass(.seconds(Self.outageSeconds))
            // What was in flight. What APNs had answered is among the results.
            #expect(await fixture.held <= Self.inFlightMax)
            let warnings = try worker.logged.dropFirst(linesBefore).filter { $0.root["level"]?.string == "warning" }
            for (message, count) in warnings.counts {
                #expect(count <= 2 + Self.outageSeconds / 60, "\(message)")
            }
            #expect(try worker.count(of: "breaker opened, pushes held") == 2)
            _ = try await stranger?.process.terminate()

            let clock = ContinuousClock()
            let start = clock.now
            let back = try await fixture.apns.again(
                options: ["--delay-ms", "\(Self.answerMilliseconds)", "--record", fixture.directory.file("back")])
            try await back.ask("GET", "/v1/requests?wait_seconds=18")
            #expect(clock.now - start < .seconds(Self.firstPushSecondsMax))
            let end = try await worker.said("breaker closed, pushes resumed")
            #expect(end.root["duration_ms"]?.int ?? 0 >= Self.outageSeconds * 1000)

            let results = try await fixture.told(of: samples, within: .seconds(LongForm.pick(600, short: 60)))
            let odd = results.odd(samples) { told in told.count == 1 && told[0].outcome == "accepted" }
            #expect(odd.isEmpty, "\(odd.count): \(odd.prefix(3).map { results[$0] })")
            // Only what was in flight when it went may count as tried.
            let tried = samples.filter { sample in
                results[sample].contains { $0.attempts > 1 && !$0.isPossibleDuplicate }
            }
            #expect(tried.map(\.id) == [])
            _ = try await worker.stop()
            #expect(try worker.count(of: "breaker closed, pushes resumed") == 1)
            _ = try await fixture.testClient.takeAll(from: "\(prefix).overheard")
            try await fixture.expectNothingLeft()
            let pushes = Pushes(try fixture.recorded() + fixture.recorded(in: "back"))
            // What was in flight when it went may have been taken before and after.
            let untaken = samples.filter { pushes.taken($0) == 0 }
            #expect(untaken.map(\.id) == [])
            await fixture.testClient.close()
            try await back.process.terminate()
        }
    }
}

extension SystemFixture {
    /// What the worker has published by now to wait.
    fileprivate var held: Int {
        get async { await testClient.collected("\(prefix).overheard").count }
    }
}

extension Sequence where Element == JSONDocument {
    /// How often there is each message among log lines.
    fileprivate var counts: [String: Int] {
        reduce(into: [:]) { $0[$1.root["message"]?.string ?? "-", default: 0] += 1 }
    }
}
