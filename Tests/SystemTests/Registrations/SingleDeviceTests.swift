import JSON
import TestKit
import Testing

extension StoreSystemTests {
    /// Requests to users with one device, which the worker pushes in place.
    @Suite struct SingleDevices {
        private static let requests = 100

        /// Queues of the test receive each message that is published to an exchange.
        @Test func `A request to a user with one device causes one delivery and one publish`() async throws {
            let folder = try TemporaryDirectory("store")
            var options = SystemFixture.Options()
            try options.useSQLite(folder.file("registrations.db"))
            let fixture = try await SystemFixture("single-device", options)
            try await fixture.applyTopology()
            let users = (0..<Self.requests).map { StoreUser(number: $0, deviceCount: 1) }
            try await fixture.importUsers(users)
            let exchanges = ["requests", "registrations", "results"]
            for exchange in exchanges {
                try await fixture.testClient.bind(fixture.queue("all.\(exchange)"), to: fixture.queue(exchange), "#")
            }
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let requests = users.map { UserRequest($0.number, to: $0) }
            try await fixture.testClient.publish(requests.map { $0.message(to: fixture.prefix) })
            try await fixture.fanoutMessages(about: requests)
            let last = try await worker.stop().root
            #expect(last["message.delivered"]?.int == Self.requests)
            for (exchange, count) in zip(exchanges, [Self.requests, 0, Self.requests]) {
                let published = try await fixture.testClient.getAll(from: fixture.queue("all.\(exchange)"))
                #expect(published.count == count, "\(exchange)")
            }
            try await fixture.expectNothingLeft()
            let messages = try await fixture.allFanoutMessages()
            messages.check(requests, try await fixture.end())
        }
    }
}
