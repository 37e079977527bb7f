import AMQP
import APNSSimulator
import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    @Suite struct EndToEnd {
        /// The number of requests. `MARTLET_MESSAGES` overrides the default.
        private static let count = getenv("MARTLET_MESSAGES").flatMap { Int(String(cString: $0)) } ?? 5000

        @Test func everyRequestIsPushedUnchangedAndReportedOnce() async throws {
            let fixture = try await SystemFixture("whole")
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let samples = Sample.make(Self.count)
            try await fixture.publish(samples)
            let results = try await fixture.testClient.collected(
                fixture.queue("results"), atLeast: samples.count, within: .seconds(240))
            let counters = try await worker.stop()

            let contract = try Contract.result()
            var reported: Set<String> = []
            for result in results {
                #expect(try contract.violation(ofBody: result) == nil)
                let json = try result.json.root
                #expect(json["outcome"]?.string == "accepted")
                #expect(json["possible_duplicate"]?.bool == false)
                reported.insert(json["id"]?.string ?? "-")
            }
            #expect(reported == Set(samples.map(\.id)))
            #expect(counters.root["message.accepted"]?.int == samples.count)
            #expect(counters.root["message.unknown_outcomes"]?.int == 0)
            try await fixture.expectNothingLeft()
            #expect(await fixture.testClient.collected(fixture.queue("results")).count == samples.count)

            let seen = try await fixture.end()
            #expect(seen.count == samples.count)
            let hashes = Dictionary(
                seen.map { ($0.root["apns_id"]?.string ?? "-", $0.root["payload_sha256"]?.string ?? "-") },
                uniquingKeysWith: { first, _ in first })
            #expect(hashes.count == samples.count)
            #expect(samples.filter { hashes[$0.id] != $0.payloadHash }.map(\.id) == [])
        }

        /// Covers content encodings that some client libraries set by default, such as `binary` for bytes.
        @Test func aContentEncodingWithoutCompressionIsAccepted() async throws {
            let fixture = try await SystemFixture("encodings")
            try await fixture.applyTopology()
            for queue in ["results", "dead"] { await fixture.testClient.collect(fixture.queue(queue)) }
            let worker = try await fixture.worker()
            let encodings = ["", "binary", "8bit", "ascii", "utf8", "UTF-8", "none", "identity"]
            let samples = Sample.make(encodings.count)
            let compressed = Sample(encodings.count)
            try await fixture.testClient.publish(
                zip(samples + [compressed], encodings + ["gzip"]).map { sample, encoding in
                    var message = sample.message(to: fixture.prefix)
                    message.contentEncoding = encoding
                    message.messageID = "of-the-message"
                    return message
                })
            let results = try await fixture.results(of: samples + [compressed])
            results.expectAcceptedOnFirstAttempt(samples)
            #expect(results[compressed].map(\.error) == ["property.content-encoding"])
            let letter = try await fixture.testClient.collected(fixture.queue("dead"), atLeast: 1)[0]
            #expect(letter.header("push-apns-id") == compressed.id)
            _ = try await worker.stop()
            try await fixture.expectNothingLeft()
            #expect(try Pushes(await fixture.end()).notAcceptedOnce(samples) == [])
        }
    }
}

extension Sample {
    fileprivate var payloadHash: String {
        Array(payload.utf8).withUnsafeBytes { SHA256Value(of: $0).description }
    }
}
