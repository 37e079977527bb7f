import Testing

@testable import TestKit

@Suite struct PrivateBrokerTests {
    @Test func `starts, restarts after a kill, and ends`() async throws {
        let broker = try await PrivateBroker(settings: ["heartbeat = 7"])
        #expect(broker.url == "amqp://guest:guest@127.0.0.1:\(broker.port)/")
        try await broker.rabbitmqctl("set_policy", "limit", "^push", #"{"max-length":10}"#, "--apply-to", "queues")
        #expect(await broker.processorTime() > .zero)

        try await broker.kill()
        await #expect(throws: ProcessError.self) { try await broker.rabbitmqctl("list_queues") }
        try await broker.start()
        #expect(try await broker.rabbitmqctl("list_policies").contains { $0.contains("max-length") })

        try await broker.end()
        await #expect(throws: ProcessError.self) { try await broker.rabbitmqctl("list_queues") }
    }
}
