import JSON
import TestKit
import Testing

/// A worker whose store is a PostgreSQL server with a standby.
final class StoreOutageHarness {
    private static let deviceCountMax = 3
    /// The number of requests to users, and of requests to device tokens, that each check publishes.
    private static let requests = 20

    let fixture: SystemFixture
    let primary: PrivatePostgres
    let standby: PrivatePostgres
    private let worker: ChildProcess
    private let users: [StoreUser]
    /// All requests that ``next(_:)`` has returned.
    private var samples: [Sample] = []
    private var userRequests: [UserRequest] = []

    /// Runs `body` with a ready worker, and checks the results, reports and pushes of all its requests.
    static func with(
        _ prefix: String, userCount: Int, _ body: (StoreOutageHarness) async throws -> Void
    ) async throws {
        try await PrivatePostgres.with { primary in
            try await PrivatePostgres(standbyOf: primary).use { standby in
                let harness = try await StoreOutageHarness(prefix, userCount: userCount, primary, standby)
                try await body(harness)
                try await harness.end()
            }
        }
    }

    private init(
        _ prefix: String, userCount: Int, _ primary: PrivatePostgres, _ standby: PrivatePostgres
    ) async throws {
        var options = SystemFixture.Options(delays: ["1s"])
        try options.usePostgres(primary, standby)
        (self.primary, self.standby) = (primary, standby)
        users = StoreUser.make(userCount, deviceCountMax: Self.deviceCountMax)
        fixture = try await SystemFixture(prefix, options)
        try await fixture.applyTopology()
        try await fixture.migrateStore()
        try await fixture.importUsers(users)
        await fixture.testClient.collect(fixture.queue("results"))
        worker = try await fixture.worker()
    }

    /// Returns new requests to device tokens and to the next users.
    func next(_ count: Int) -> (samples: [Sample], userRequests: [UserRequest]) {
        let first = samples.count
        let new = (
            Sample.make(count, from: first),
            users[first..<first + count].map { UserRequest(users.count + $0.number, to: $0) }
        )
        samples += new.0
        userRequests += new.1
        return new
    }

    /// Checks that an outage holds requests to users until its end, and that requests to device tokens are pushed
    /// before its end.
    func expectHeld(after begin: () async throws -> Void, until end: () async throws -> Void) async throws {
        let openings = try count(of: "breaker.opened")
        let closings = try count(of: "breaker.closed")
        try await begin()
        let (samples, userRequests) = try await publishNext()
        try await poll(until: "an open breaker") { try count(of: "breaker.opened") > openings }
        try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
        try await end()
        try await poll(until: "a closed breaker") { try count(of: "breaker.closed") > closings }
        try await fixture.fanoutMessages(about: userRequests, within: .seconds(90))
    }

    /// Checks that all requests complete after a short outage.
    func expectCompleted(after outage: () async throws -> Void) async throws {
        let (samples, userRequests) = try await publishNext()
        try await outage()
        try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
        try await fixture.fanoutMessages(about: userRequests, within: .seconds(90))
    }

    private func publishNext() async throws -> (samples: [Sample], userRequests: [UserRequest]) {
        let new = next(Self.requests)
        try await fixture.testClient.publish(
            zip(new.samples, new.userRequests).flatMap {
                [$0.message(to: fixture.prefix), $1.message(to: fixture.prefix)]
            })
        return new
    }

    private func count(of event: String) throws -> Int {
        try worker.logged.count { $0.root["event"]?.string == event }
    }

    private func end() async throws {
        _ = try await worker.stop()
        try await fixture.expectNothingLeft()
        try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
        let messages = try await fixture.allFanoutMessages()
        let record = try await fixture.end()
        messages.check(userRequests, record)
        #expect(Pushes(record).notAcceptedOnce(samples) == [])
    }
}
