import Glibc
import TestKit
import Testing

extension StoreSystemTests {
    /// Workers that are killed while they push requests to users.
    @Suite struct KilledWorkers {
        private static let requests = LongForm.pick(1000, short: 101)
        /// Maximum number of kills. More kills would lead some requests to the quarantine. There, a kill makes a
        /// request a dead letter.
        private static let killsMax = LongForm.pick(50, short: 6)
        private static let perSecond = 20
        private static let workers = 3

        @Test func `Each device gets its push, and results and reports agree with the pushes`() async throws {
            try await PrivatePostgres.with { server in
                var options = SystemFixture.Options(simulator: ["--delay-ms", "200"], inFlightMax: 50, delays: ["1s"])
                try options.usePostgres(server)
                let fixture = try await SystemFixture("killed-users", options)
                try await fixture.applyTopology()
                try await fixture.migrateStore()
                let users = StoreUser.make(Self.requests, deviceCountMax: 100)
                try await fixture.importUsers(users)
                await fixture.testClient.collect(fixture.queue("results"))
                try await Self.run(fixture, users)
            }
        }

        private static func run(_ fixture: SystemFixture, _ users: [StoreUser]) async throws {
            let requests = users.map { UserRequest($0.number, to: $0) }
            var workers: [ChildProcess] = []
            for _ in 0..<Self.workers { workers.append(try await fixture.worker()) }
            async let published = fixture.testClient.publish(
                requests.map { $0.message(to: fixture.prefix) }, perSecond: perSecond)
            var killed: [ChildProcess] = []
            var messages = FanoutMessages()
            while killed.count < killsMax, !requests.allSatisfy(messages.isComplete) {
                await fixture.testClient.sleep(for: .seconds(1))
                let index = killed.count % workers.count
                workers[index].send(signal: SIGKILL)
                killed.append(workers[index])
                workers[index] = try await fixture.startWorker()
                try messages.read(await fixture.testClient.collected(fixture.queue("results")))
            }
            _ = try await published
            for worker in killed { #expect(try await worker.exit().status == .signalled(SIGKILL)) }

            try await fixture.fanoutMessages(about: requests)
            try await fixture.waitForEmptyRequestQueues()
            for worker in workers { _ = try await worker.stop() }
            messages = try await fixture.allFanoutMessages()
            try await fixture.expectNothingLeft()
            let repeated = messages.check(requests, try await fixture.end(), allowsRepeats: true)
            let pushes = requests.reduce(0) { $0 + $1.tokens.count }
            print("\(killed.count) workers killed, \(pushes) pushes to users: \(repeated) repeated")
        }
    }
}
