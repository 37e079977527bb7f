import AMQP
import Delivery
import Glibc
import JSON
import TestKit
import Testing

extension StoreSystemTests {
    /// Workers that are killed after a command is committed, and before its events are published.
    ///
    /// The next worker publishes the events after a minute.
    @Suite(.enabled(if: LongForm.isOn)) struct KilledConsumers {
        private static let devices = 100

        @Test func `The next worker publishes the events, and marks repeated ones`() async throws {
            try await PrivatePostgres.with { server in
                var options = SystemFixture.Options()
                try options.usePostgres(server)
                let fixture = try await SystemFixture("killed-consumer", options)
                try await fixture.applyTopology()
                try await fixture.migrateStore()
                let previous = StoreUser(number: 0, deviceCount: Self.devices)
                try await fixture.importUsers([previous])
                let worker = try await fixture.worker()
                // Without queues for results, the broker returns the events.
                try await fixture.testClient.delete([fixture.queue("results"), fixture.queue("unrouted")])
                try await fixture.testClient.publish(
                    previous.commands(to: fixture.prefix, for: "next", secondsLater: 1))
                // The worker stops consuming after the first batches.
                try await poll(until: "events are stored") {
                    try await server.sql("SELECT count(*) FROM martlet.event") != ["0"]
                }
                worker.send(signal: SIGKILL)
                _ = try await worker.exit()

                try await fixture.applyTopology()
                await fixture.testClient.collect(fixture.queue("results"))
                let next = try await fixture.worker()
                try await fixture.testClient.collected(
                    fixture.queue("results"), ids: Self.devices, within: TestTimeout.duration)
                try await poll(until: "the store has no event") {
                    try await server.sql("SELECT count(*) FROM martlet.event") == ["0"]
                }
                _ = try await next.stop()
                try Self.expectEvents(await fixture.allMessages(in: "results").dropLast(), of: previous)
                #expect(try await fixture.testClient.count(in: fixture.queue("registrations")) == 0)
                try await fixture.end()
            }
        }

        /// Checks that each token has one event, and that only marked events are repeated.
        private static func expectEvents(_ events: some Sequence<IncomingMessage>, of user: StoreUser) throws {
            var tokens: [String: String] = [:]
            for event in events {
                let body = try event.json.root
                let (id, token) = (event.properties.messageID ?? "-", body["device_token"]?.string ?? "-")
                #expect(body["event"]?.string == "moved" && body["new_user"]?.string == "next")
                let isMarked = event.properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue ?? false
                #expect(tokens[id] == nil || isMarked)
                tokens[id] = token
            }
            #expect(tokens.count == user.deviceCount && Set(tokens.values) == user.tokens)
        }
    }
}
