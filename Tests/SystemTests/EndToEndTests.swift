import APNSSimulator
import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    @Suite struct EndToEnd {
        /// More with MARTLET_MESSAGES.
        private static let count = getenv("MARTLET_MESSAGES").flatMap { Int(String(cString: $0)) } ?? 5000

        @Test func everyMessageIsSentAsItWasWrittenAndToldOnce() async throws {
            let stage = try await Stage("whole")
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            let samples = Sample.make(Self.count)
            try await stage.publish(samples)
            let results = try await stage.desk.collected(
                stage.queue("results"), atLeast: samples.count, within: .seconds(240))
            let counters = try await worker.stop()

            let contract = try Contract.result()
            var told: Set<String> = []
            for result in results {
                #expect(try contract.violation(ofBody: result) == nil)
                let json = try result.json.root
                #expect(json["outcome"]?.string == "accepted")
                #expect(json["possible_duplicate"]?.bool == false)
                told.insert(json["id"]?.string ?? "-")
            }
            #expect(told == Set(samples.map(\.id)))
            #expect(counters.root["message.accepted"]?.int == samples.count)
            #expect(counters.root["message.unknown_outcomes"]?.int == 0)
            try await stage.expectNothingLeft()
            #expect(await stage.desk.collected(stage.queue("results")).count == samples.count)

            let seen = try await stage.end()
            #expect(seen.count == samples.count)
            let hashes = Dictionary(
                seen.map { ($0.root["apns_id"]?.string ?? "-", $0.root["payload_sha256"]?.string ?? "-") },
                uniquingKeysWith: { first, _ in first })
            #expect(hashes.count == samples.count)
            #expect(samples.filter { hashes[$0.id] != $0.payloadHash }.map(\.id) == [])
        }
    }
}

extension Sample {
    fileprivate var payloadHash: String {
        Array(payload.utf8).withUnsafeBytes { SHA256Value(of: $0).description }
    }
}
