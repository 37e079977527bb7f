import AMQP
import EventLoop
import Glibc
import JSON
import TestKit
import Testing

extension ChangingWorkerTests {
    /// The journal that workers publish to a stream.
    @Suite struct Journal {
        /// A batch of the stream.
        private struct Batch: Sendable {
            let routingKey: String
            let body: [UInt8]

            var root: JSONValue { get throws { try JSONDocument(body).root } }
            var worker: String { get throws { try root["worker"]?.string ?? "-" } }
            var sequence: Int { get throws { try root["sequence"]?.int ?? -1 } }
            var hasEnded: Bool { get throws { try root["ended"]?.bool ?? false } }

            /// Returns the objects of the lines with this word.
            func objects(_ word: String) throws -> [JSONValue] {
                let lines = try #require(try root["lines"]).elements.map { Array($0.elements) }
                return lines.filter { $0[0].string == word }.map { $0[1] }
            }
        }

        /// Reads the stream from its first record until the batches satisfy a condition.
        private static func batches(
            of fixture: SystemFixture, until isComplete: @escaping @Sendable ([Batch]) throws -> Bool
        ) async throws -> [Batch] {
            let url = try AMQPURL(await PrivateBroker.shared.url)
            let stream = fixture.queue("journal")
            return try await onEpollLoop { loop in
                let connection = BrokerConnection(
                    loop: loop, connectors: url.endpoints.map { ByteConnector(loop: loop, endpoint: $0) },
                    configuration: ConnectionConfiguration(credentials: url.credentials))
                let reader = StreamReader(
                    on: connection, configuration: StreamReaderConfiguration(stream: stream, prefetch: 100))
                let handler = TestStreamReaderHandler { .first }
                // Used only on the loop.
                nonisolated(unsafe) var batches: [Batch] = []
                handler.onMessage = { batches.append(Batch(routingKey: $0.routingKey, body: Array($0.body))) }
                reader.start(handler)
                do {
                    try await loop.wait { (try? isComplete(batches)) ?? false }
                    await connection.close(deadlineSeconds: 1)
                    return batches
                } catch {
                    await connection.close(deadlineSeconds: 1)
                    throw error
                }
            }
        }

        private static func fixture(_ prefix: String, _ journal: String?) async throws -> SystemFixture {
            var options = SystemFixture.Options(delays: ["1s"])
            options.sections = ["fleet: {report_interval: 1s}"] + (journal.map { ["journal: \($0)"] } ?? [])
            let fixture = try await SystemFixture(prefix, options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            return fixture
        }

        @Test func `The stream has results, waits, samples and the end of a worker`() async throws {
            let fixture = try await Self.fixture("journal", "{}")
            let worker = try await fixture.worker()
            try await fixture.apns.request(
                "POST", "/v1/faults",
                #"{"id":"busy","match":{},"action":{"answer":{"status":429,"reason":"TooManyRequests"}},"#
                    + #""count_max":1}"#)
            let samples = Sample.make(200)
            try await fixture.publish(samples)
            let invalid = OutgoingMessage(
                exchange: fixture.queue("requests"), routingKey: "-", body: Array("no JSON".utf8), messageID: "bad")
            try await fixture.testClient.publish([invalid])
            _ = try await fixture.results(of: samples)
            _ = try await worker.stop()
            let results = try await fixture.allMessages(in: "results").dropLast().map(\.body)
            let batches = try await Self.batches(of: fixture) { try $0.last?.hasEnded == true }
            #expect(try batches.map { try $0.sequence } == Array(1...batches.count))
            #expect(batches.allSatisfy { $0.routingKey.hasPrefix("journal.") })
            #expect(try batches.allSatisfy { try $0.root["dropped"]?.int ?? 0 == 0 })
            let lines = try batches.flatMap { try $0.objects("result").map { Array($0.sourceBytes) } }
            #expect(lines.count == results.count && Set(lines) == Set(results))
            let wait = try #require(try batches.flatMap { try $0.objects("wait") }.first)
            #expect(wait["code"]?.string == "TooManyRequests" && wait["attempts"]?.int == 1)
            #expect(wait["queue"]?.string?.hasPrefix("journal.wait.1s.") == true)
            let dead = try #require(try batches.flatMap { try $0.objects("dead") }.first)
            #expect(dead["class"]?.string == "json" && dead["body"]?.string == "bm8gSlNPTg==")
            // The result after the wait has the history.
            let waited = try #require(
                try results.map { try JSONDocument($0).root }.first { $0["id"]?.string == wait["id"]?.string })
            #expect(waited["attempts"]?.int == 2)
            #expect(waited["history"]?.elements.map { $0["code"]?.string } == ["TooManyRequests"])
            #expect(try waited["worker"]?.string == batches.first?.worker)
            _ = try await fixture.testClient.getAll(from: fixture.queue("dead"))
            _ = try await fixture.end()
        }

        @Test func `A killed worker has no last batch, and loses no result`() async throws {
            let fixture = try await Self.fixture("journal-killed", "{}")
            let worker = try await fixture.startWorker()
            try await worker.waitForLog("ready")
            let first = Sample.make(50)
            try await fixture.publish(first)
            _ = try await fixture.results(of: first)
            let before = try await Self.batches(of: fixture) {
                try $0.reduce(0) { $0 + (try $1.objects("result").count) } >= first.count
            }
            let killed = try #require(try before.first?.worker)
            let second = Sample.make(50, from: 1000)
            try await fixture.publish(second)
            _ = try await fixture.results(of: second)
            worker.send(signal: SIGKILL)
            _ = try await worker.exit()
            let next = try await fixture.worker()
            _ = try await next.stop()
            let batches = try await Self.batches(of: fixture) { try $0.last?.hasEnded == true }
            let ended = try batches.filter { try $0.hasEnded }
            #expect(ended.count == 1)
            #expect(try ended.first?.worker != killed)
            let ofKilled = try batches.filter { try $0.worker == killed }
            #expect(try ofKilled.map { try $0.sequence } == Array(1...ofKilled.count))
            let boots = Set(try batches.map { try $0.root["boot_id"]?.string ?? "-" })
            #expect(boots.count == 2)
            _ = try await fixture.end()
        }

        @Test func `Without the section no stream exists and nothing is published to it`() async throws {
            let fixture = try await Self.fixture("journal-off", nil)
            let (stream, watch, exchange) = (
                fixture.queue("journal"), fixture.queue("watch.journal"), fixture.queue("fleet")
            )
            let declared = try await BrokerClients.withAdmin(await PrivateBroker.shared.url) { admin in
                try await admin.queueExists(stream)
            }
            #expect(!declared)
            // A queue in place of the stream shows each batch.
            try await BrokerClients.withAdmin(await PrivateBroker.shared.url) { admin in
                try await admin.declareQueue(watch)
                try await admin.bindQueue(watch, toExchange: exchange, routingKey: "journal.#")
            }
            let worker = try await fixture.worker()
            let samples = Sample.make(50)
            try await fixture.publish(samples)
            try await fixture.results(of: samples).expectAcceptedOnFirstAttempt(samples)
            _ = try await worker.stop()
            #expect(try await fixture.testClient.count(in: fixture.queue("watch.journal")) == 0)
            _ = try await fixture.end()
        }
    }
}
