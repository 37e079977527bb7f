import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    /// The operators' page Incidents. During the incident that a section describes, the section's commands print the
    /// documented output.
    @Suite struct IncidentsPage {
        private static let shop = "com.example.shop"
        private static let news = "com.example.news"

        /// Returns options for a worker that pushes to the apps of a key, with its control socket in the fixture's
        /// folder.
        private static func options(_ key: FixtureKey) -> SystemFixture.Options {
            SystemFixture.Options(keys: [key], delays: ["10m"], lanes: 2, admin: OperatorHarness.admin)
        }

        private func run(
            _ block: [PageCommand], _ fixture: SystemFixture, _ sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            for command in block {
                let printed = try await command.run(in: fixture.directory)
                #expect(
                    command.matches(printed), "\(command.text) printed \(printed)", sourceLocation: sourceLocation)
            }
        }

        /// Waits until the wait queues have this number of requests.
        private func waitForRequestsInWaitQueues(_ count: Int, _ fixture: SystemFixture) async throws {
            try await poll(until: "\(count) requests in wait queues") {
                var found = 0
                for queue in fixture.waitQueues { found += try await fixture.testClient.count(in: queue) }
                return found == count
            }
        }

        @Test func missingResultsAreReplayed() async throws {
            let key = try FixtureKey("ABC123DEFG", apps: [Self.shop])
            let fixture = try await SystemFixture("incidentresults", Self.options(key))
            try await fixture.applyTopology()
            let worker = try await fixture.worker()
            try await PrivateBroker.shared.rabbitmqctl("delete_queue", fixture.queue("results"))
            try await fixture.publish(Sample.make(9, app: Self.shop))
            try await fixture.waitForMessages(9, in: "unrouted")

            let blocks = try PageCommand.blocks(of: "Incidents", in: "Find missing results")
            #expect(blocks.map(\.count) == [1, 3])
            for block in blocks { try await run(block, fixture) }
            try await fixture.waitForMessages(9, in: "results")
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func aRevokedKeyIsReplaced() async throws {
            let key = try FixtureKey("ABC123DEFG", apps: [Self.shop])
            let new = try FixtureKey("XYZ789WXYZ", apps: [Self.shop])
            let fixture = try await SystemFixture("incidentkey", Self.options(key))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            try await key.revoke(at: fixture.apns)
            let samples = Sample.make(60, app: Self.shop)
            try await fixture.publish(samples)
            try await waitForRequestsInWaitQueues(samples.count, fixture)

            let blocks = try PageCommand.blocks(of: "Incidents", in: "Replace a revoked key")
            #expect(blocks.map(\.count) == [2, 1, 1, 3, 2])
            // The worker reads the sizes of the queues at intervals.
            try await poll(until: "a status as documented") {
                try await blocks[0][0].matches(blocks[0][0].run(in: fixture.directory))
            }
            try await run([blocks[0][1]], fixture)

            try await new.register(at: fixture.apns, in: fixture.directory)
            #expect(chmod(fixture.directory.file(new.fileName), 0o640) == 0)
            try fixture.write(Self.options(new))
            try await run(blocks[1], fixture)
            worker.send(signal: 1)
            try await worker.waitForLog("previous lanes stopped")
            let documented = try blocks[3].flatMap(\.output).map { try JSONDocument($0).root["event"]?.string }
            #expect(documented.count == 2)
            let logged = try worker.logged.map { $0.root["event"]?.string }
            #expect(documented.allSatisfy(logged.contains))

            try await run(blocks[4], fixture)
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func deadLettersOfAnUnknownAppAreRedriven() async throws {
            let fixture = try await SystemFixture(
                "incidentdead", Self.options(try FixtureKey("ABC123DEFG", apps: [Self.shop])))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let samples = Sample.make(50, app: Self.news)
            try await fixture.publish(samples)
            try await fixture.waitForMessages(samples.count, in: "dead")

            let blocks = try PageCommand.blocks(of: "Incidents", in: "Clear dead letters with one reason")
            #expect(blocks.map(\.count) == [2, 5, 1, 1])
            try await run(blocks[0], fixture)
            let dryRun = try #require(blocks[1].first)
            let refused = try await dryRun.run(in: fixture.directory, status: 1)
            #expect(refused.contains { blocks[2][0].matches([$0]) }, "\(refused)")

            let key = try FixtureKey("ABC123DEFG", apps: [Self.shop, Self.news])
            try await key.register(at: fixture.apns, in: fixture.directory)
            try fixture.write(Self.options(key))
            worker.send(signal: 1)
            try await worker.waitForLog("previous lanes stopped")
            try await run(blocks[1], fixture)
            let results = try await fixture.results(of: samples)
            #expect(results.unexpected(samples) { $0.map(\.outcome) == ["invalid", "accepted"] }.map(\.id) == [])
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func waitingRequestsReturn() async throws {
            let key = try FixtureKey("ABC123DEFG", apps: [Self.shop])
            let fixture = try await SystemFixture("incidentwaits", Self.options(key))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            try await fixture.apns.request(
                "POST", "/v1/faults",
                #"{"id":"busy","match":{},"action":{"answer":{"status":429,"reason":"TooManyRequests"}}}"#)
            let samples = Sample.make(10, app: Self.shop)
            try await fixture.publish(samples)
            try await waitForRequestsInWaitQueues(samples.count, fixture)

            let blocks = try PageCommand.blocks(of: "Incidents", in: "Return waiting requests")
            #expect(blocks.map(\.count) == [1, 1])
            try await run(blocks[0], fixture)
            try await fixture.apns.request("DELETE", "/v1/faults/busy")
            try await run(blocks[1], fixture)
            let results = try await fixture.results(of: samples)
            #expect(results.unexpected(samples) { $0.map(\.outcome) == ["accepted"] }.map(\.id) == [])
            _ = try await worker.stop()
            try await fixture.end()
        }
    }
}
