import AMQP
import Glibc
import JSON
import TestKit
import Testing

extension SystemTests {
    /// Requests that are published again.
    ///
    /// A worker pushes a request again unless APNs has accepted it. An accepted request is reported as a duplicate.
    @Suite struct Redrive {
        @Test func aDeadLetterIsDeliveredAfterItsCauseIsFixed() async throws {
            let fixture = try await SystemFixture("redrive")
            try await fixture.applyTopology()
            for queue in ["results", "dead"] { await fixture.testClient.collect(fixture.queue(queue)) }
            let worker = try await fixture.worker()
            let bad = Sample(1)
            try await fixture.apns.request(
                "PUT", "/v1/devices/\(bad.device)", #"{"app":"com.example.app","state":"bad"}"#)
            var late = Sample(2)
            late.expiration = 1
            var wrong = Sample(3)
            wrong.environment = "elsewhere"
            try await fixture.publish([bad, late, wrong])
            let first = try await fixture.results(of: [bad, late, wrong])
            #expect(first[bad].map(\.error) == ["apns.BadDeviceToken"])
            #expect(first[late].map(\.outcome) == ["expired"])
            #expect(first[wrong].map(\.outcome) == ["invalid"])

            // The device is registered again, and the other requests are corrected.
            try await fixture.apns.request("DELETE", "/v1/devices/\(bad.device)")
            let letters = try await fixture.testClient.collected(fixture.queue("dead"), atLeast: 2)
            let letter = try #require(letters.first { $0.body == bad.body })
            late.expiration = Int(time(nil)) + 3600
            wrong.environment = nil
            try await fixture.testClient.publish(
                [letter.moved(to: fixture.queue("requests"))] + [late, wrong].map { $0.message(to: "redrive") })
            try await fixture.testClient.collected(fixture.queue("results"), atLeast: 6)
            let results = try await fixture.results(of: [bad, late, wrong])
            for sample in [bad, late, wrong] {
                #expect(results[sample].count == 2)
                #expect(results[sample].last?.outcome == "accepted")
                #expect(results[sample].last?.isDuplicate == false)
            }
            _ = try await worker.stop()
            let pushes = try Pushes(await fixture.end())
            #expect(pushes[bad].map(\.status) == [400, 200])
            #expect(pushes.notAcceptedOnce([bad, late, wrong]) == [])
        }

        /// Checks that a redrive with the workers' configuration publishes no requests that workers would reject again.
        @Test func requestsThatWouldFailAgainStay() async throws {
            let fixture = try await SystemFixture("redrivechecked")
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let bad = Sample(1)
            let strange = Sample.make(3, from: 10, app: "com.example.absent")
            try await fixture.apns.request(
                "PUT", "/v1/devices/\(bad.device)", #"{"app":"com.example.app","state":"bad"}"#)
            try await fixture.publish([bad] + strange)
            let first = try await fixture.results(of: [bad] + strange)
            #expect(first[bad].map(\.error) == ["apns.BadDeviceToken"])
            #expect(strange.allSatisfy { first[$0].map(\.error) == ["app.unknown"] })

            try await fixture.apns.request("DELETE", "/v1/devices/\(bad.device)")
            for words in [["redrive", "--dry-run"], ["redrive", "--all"]] {
                let redrive = try await fixture.deadLetters(words + ["--json"])
                #expect(try await redrive.exit().status == .exited(1))
                let summary = try JSONDocument(#require(await redrive.output.allLines().last)).root
                #expect(summary["redriven"]?.int == 1 && summary["invalid"]?.int == 3)
                #expect(summary["would_fail_again"]?["app.unknown"]?.int == 3)
            }
            try await fixture.testClient.collected(fixture.queue("results"), atLeast: 5)
            let results = try await fixture.results(of: [bad] + strange)
            #expect(results[bad].map(\.outcome) == ["rejected", "accepted"])
            #expect(strange.allSatisfy { results[$0].count == 1 })
            #expect(try await fixture.deadLetters("stats").lines.compactMap { $0["count"]?.int } == [3])
            _ = try await worker.stop()
            try await fixture.end()
        }

        @Test func duplicatesAreReportedByAnyLaneAndNotPushed() async throws {
            let fixture = try await SystemFixture(
                "again", SystemFixture.Options(simulator: ["--delay-ms", "200"], lanes: 2))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let samples = Sample.make(50)
            // Some duplicates arrive while the first delivery is in flight, others after its result is published.
            try await fixture.publish(samples + samples + samples)
            try await fixture.testClient.collected(fixture.queue("results"), atLeast: 3 * samples.count)
            try await fixture.publish(samples + samples)
            try await fixture.testClient.collected(fixture.queue("results"), atLeast: 5 * samples.count)
            let results = try await fixture.results(of: samples)
            let unexpected = results.unexpected(samples) { reported in
                reported.count == 5 && reported.allSatisfy { $0.outcome == "accepted" && !$0.isPossibleDuplicate }
                    && reported.count { $0.isDuplicate } == 4
            }
            #expect(unexpected.map { results[$0] }.isEmpty)
            let counters = try await worker.stop()
            #expect(counters.root["message.duplicates"]?.int == 4 * samples.count)
            try await fixture.expectNothingLeft()
            let record = try await fixture.end()
            #expect(record.count == samples.count)
            #expect(Pushes(record).notAcceptedOnce(samples) == [])
        }
    }
}

extension IncomingMessage {
    /// Returns the message that moves this message to another queue, with the same body, ID and headers.
    fileprivate func moved(to queue: String) -> OutgoingMessage {
        OutgoingMessage(
            exchange: "", routingKey: queue, body: body, messageID: properties.messageID ?? "",
            headers: properties.headers ?? FieldTable())
    }
}
