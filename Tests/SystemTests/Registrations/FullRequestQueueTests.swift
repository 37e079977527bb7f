import JSON
import TestKit
import Testing

extension StoreSystemTests {
    /// A request to more users than its queue has room for.
    @Suite struct FullRequestQueues {
        private static let users = LongForm.pick(1000, short: 300)
        private static let messagesMax = LongForm.pick(100, short: 30)

        @Test func `All devices get the push, and the lane continues to consume`() async throws {
            var options = SystemFixture.Options(simulator: ["--delay-ms", "100"], inFlightMax: 20, delays: ["1s"])
            let folder = try TemporaryDirectory("store")
            try options.useSQLite(folder.file("registrations.db"))
            let fixture = try await SystemFixture("full-requests", options)
            try await fixture.applyTopology()
            let users = (0..<Self.users).map { StoreUser(number: $0, deviceCount: 1) }
            try await fixture.importUsers(users)
            try await PrivateBroker.shared.rabbitmqctl(
                "set_policy", "full-requests", #"^full-requests\.requests$"#,
                #"{"max-length":\#(Self.messagesMax),"overflow":"reject-publish"}"#, "--apply-to", "queues")
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let request = UserRequest(0, to: users)
            try await fixture.testClient.publish([request.message(to: fixture.prefix)])
            // If the queue is full when the request returns from a wait queue, the broker repeats the return after 3
            // minutes.
            let messages = try await fixture.fanoutMessages(about: [request], within: TestTimeout.duration * 2)
            #expect(try worker.count(of: "publishing blocked, consumption stopped") == 0)
            let waits = try await worker.stop().root["message.retried"]?.int ?? 0
            #expect(waits > 0, "the queue was never full")
            try await fixture.expectNothingLeft()
            messages.check([request], try await fixture.end(), allowsRepeats: true)
        }
    }
}
