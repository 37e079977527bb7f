import JSON
import TestKit
import Testing

extension SystemTests {
    /// Outages of APNs while requests wait.
    @Suite struct APNSOutage {
        enum Outage: CaseIterable {
            case unreachable
            /// A server at the address of APNs with a certificate that the worker does not trust.
            case untrustedServer
        }

        private static let samples = LongForm.pick(20_000, short: 600)
        private static let outageSeconds = LongForm.pick(180, short: 2)
        private static let inFlightMax = 100
        private static let answerMilliseconds = 100
        private static let firstPushSecondsMax = 10

        @Test(arguments: Outage.allCases)
        func backlogStaysInTheQueueUntilAPNsIsBack(_ outage: Outage) async throws {
            let prefix = "apns-\(outage)"
            let fixture = try await SystemFixture(
                prefix,
                SystemFixture.Options(
                    simulator: ["--delay-ms", "\(Self.answerMilliseconds)"], inFlightMax: Self.inFlightMax,
                    delays: ["1s", "2s"], hasSandbox: true))
            try await fixture.applyTopology()
            try await fixture.testClient.tap(fixture.waitQueues, as: "\(prefix).overheard")
            await fixture.testClient.collect(fixture.queue("results"))
            let samples = Sample.make(Self.samples)
            try await fixture.publish(samples)
            let worker = try await fixture.worker()
            try await fixture.testClient.collected(fixture.queue("results"), atLeast: Self.inFlightMax)

            try await fixture.simulator.terminate()
            let linesBefore = try worker.logged.count
            let impostor = outage == .untrustedServer ? try await fixture.apns.restarted(isTrusted: false) : nil
            try await worker.waitForLog("APNs unreachable, consumption stopped")
            // Each of the two endpoints has a breaker.
            for _ in 0..<2 { try await worker.waitForLog("breaker opened, pushes held") }
            await fixture.testClient.sleep(for: .seconds(Self.outageSeconds))
            // Only requests that were in flight are held. Requests that APNs had answered have results.
            #expect(await fixture.heldCount <= Self.inFlightMax)
            let warnings = try worker.logged.dropFirst(linesBefore).filter { $0.root["level"]?.string == "warning" }
            for (message, count) in warnings.counts {
                #expect(count <= 2 + Self.outageSeconds / 60, "\(message)")
            }
            #expect(try worker.count(of: "breaker opened, pushes held") == 2)
            _ = try await impostor?.process.terminate()

            let clock = ContinuousClock()
            let start = clock.now
            let back = try await fixture.apns.restarted(
                options: ["--delay-ms", "\(Self.answerMilliseconds)", "--record", fixture.directory.file("back")])
            try await back.request("GET", "/v1/requests?wait_seconds=18")
            #expect(clock.now - start < .seconds(Self.firstPushSecondsMax))
            let end = try await worker.waitForLog("breaker closed, pushes resumed")
            #expect(end.root["duration_ms"]?.int ?? 0 >= Self.outageSeconds * 1000)

            let results = try await fixture.results(of: samples, within: .seconds(LongForm.pick(600, short: 60)))
            let unexpected = results.unexpected(samples) { $0.count == 1 && $0[0].outcome == "accepted" }
            #expect(unexpected.isEmpty, "\(unexpected.count): \(unexpected.prefix(3).map { results[$0] })")
            // Several attempts are allowed only for requests that were in flight when the outage began. Their results
            // are marked as possible duplicates.
            let tried = samples.filter { sample in
                results[sample].contains { $0.attempts > 1 && !$0.isPossibleDuplicate }
            }
            #expect(tried.map(\.id) == [])
            _ = try await worker.stop()
            #expect(try worker.count(of: "breaker closed, pushes resumed") == 1)
            _ = try await fixture.testClient.getAll(from: "\(prefix).overheard")
            try await fixture.expectNothingLeft()
            let pushes = Pushes(try fixture.recorded() + fixture.recorded(in: "back"))
            // APNs may have accepted a push twice. It may have done so before the outage, when the push was in flight,
            // and after the outage.
            let lost = samples.filter { pushes.acceptedCount(of: $0) == 0 }
            #expect(lost.map(\.id) == [])
            await fixture.testClient.close()
            try await back.process.terminate()
        }
    }
}

extension SystemFixture {
    /// The number of publishes to wait queues.
    fileprivate var heldCount: Int {
        get async { await testClient.collected("\(prefix).overheard").count }
    }
}

extension Sequence where Element == JSONDocument {
    /// The number of log lines for each message.
    fileprivate var counts: [String: Int] {
        reduce(into: [:]) { $0[$1.root["message"]?.string ?? "-", default: 0] += 1 }
    }
}
