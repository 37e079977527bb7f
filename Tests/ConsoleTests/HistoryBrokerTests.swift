import AMQP
import Actions
import BrokerTopology
import Configuration
import ControlProtocol
import EventLoop
import History
import JSON
import TestKit
import Testing

@testable import Console

/// The history of a console at a real broker.
@Suite(.timeLimit(.minutes(3))) struct HistoryBrokerTests {
    private static func find(_ number: Int, _ console: ConsoleHarness, _ session: String) async throws {
        let id = JournalLines.id(number)
        try await console.waitForChange(session, "request \(number)", at: "/api/requests?id=\(id)") {
            $0["requests"]?.list.first?["outcome"]?.string == "accepted"
        }
    }

    @Test func `Batches are indexed, also of a stream that was declared again`() async throws {
        let broker = try await PrivateBroker()
        try await ConsoleHarness.declare(broker.url, prefix: "push", hasJournal: true)
        try await ConsoleHarness.run(broker: broker.url, journal: []) { console in
            let session = try await console.logIn(.view)
            let now = console.loop.now.unixMilliseconds
            let lines = [JournalLines.wait(1, at: now - 1000), JournalLines.accepted(1, at: now)]
            try await console.publish(JournalLines.batch(lines, at: now))
            try await console.publish(JournalLines.batch([JournalLines.accepted(2, at: now)], sequence: 2, at: now))
            try await Self.find(1, console, session)
            try await Self.find(2, console, session)
            try await console.waitForChange(session, "the lag", at: "/api/causes") {
                $0["totals"]?["journal_seconds_behind"]?.int == 0
            }

            // The search of `martlet trace` reads the same stream.
            let search = JournalSearch(
                console.connector, on: console.loop, command: "martlet trace", id: JournalLines.id(1))
            let end = try await search.run(since: now - 60_000, seconds: 30)
            #expect(end == .complete && search.trace.batches == 2)
            #expect(search.trace.steps.map(\.event) == [.waits, .published, .delivered, .attempt, .result])
            await search.close()

            let stream = console.connector.names.journalStream
            try await BrokerClients.withAdmin(broker.url) { _ = try await $0.deleteQueue(stream) }
            try await ConsoleHarness.declare(broker.url, prefix: "push", hasJournal: true)
            try await console.publish(JournalLines.batch([JournalLines.accepted(3, at: now)], boot: 2, at: now))
            try await Self.find(3, console, session)
        }
        try await broker.end()
    }
}

extension ConsoleHarness {
    /// Publishes a batch to the journal, as a worker does.
    func publish(_ batch: JournalBatch) async throws {
        let connection = BrokerConnection(
            loop: loop, connectors: connector.connectors(on: loop),
            configuration: connector.connection(named: "worker"))
        let publisher = Publisher(on: connection)
        publisher.start()
        let outcome = await publisher.publish(
            OutgoingMessage(
                exchange: connector.names.fleetExchange, routingKey: "journal.w1", body: batch.json, messageID: "j",
                type: "push.journal.v1"))
        guard case .confirmed = outcome else { throw ProcessError("the batch was not confirmed: \(outcome)") }
        await connection.close()
    }
}
