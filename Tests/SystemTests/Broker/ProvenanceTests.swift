import AMQP
import JSON
import TestKit
import Testing

extension SystemTests {
    /// The origin of dead letters, which comes from workers and the broker, never from the producer's headers.
    @Suite struct ProvenanceOfDeadLetters {
        private static let queues = ["urgent", "bulk"]

        @Test func aForgedOriginDoesNotRedirectARedrive() async throws {
            let fixture = try await SystemFixture("origin", SystemFixture.Options(requestQueues: Self.queues))
            try await fixture.applyTopology()
            func forged(_ sample: Sample) -> OutgoingMessage {
                var message = sample.message(to: "origin", routingKey: "bulk")
                message.headers = ["push-origin-queue": "origin.requests.urgent", "push-origin-exchange": "elsewhere"]
                return message
            }
            // The broker itself dead-letters this request.
            let rejected = Sample(1)
            try await fixture.testClient.publish([forged(rejected)])
            await fixture.testClient.reject(from: fixture.queue("requests.bulk"))

            let bad = Sample(2)
            try await fixture.apns.request(
                "PUT", "/v1/devices/\(bad.device)", #"{"app":"com.example.app","state":"bad"}"#)
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            try await fixture.testClient.publish([forged(bad)])
            let reported = try await fixture.results(of: [bad])
            #expect(reported[bad].map(\.error) == ["apns.BadDeviceToken"])
            _ = try await worker.stop()

            let letters = try await fixture.deadLetters("list").lines
            #expect(letters.map { $0["queue"]?.string } == ["origin.requests.bulk", "origin.requests.bulk"])
            #expect(Set(letters.map { $0["code"]?.string }) == ["rejected", "BadDeviceToken"])

            // A dead letter of an earlier worker version has no user ID, so its headers are not trusted.
            let earlier = Sample(3)
            try await fixture.testClient.publish([
                OutgoingMessage(
                    exchange: fixture.queue("dead"), routingKey: "dead.apns.x.-", body: earlier.body,
                    messageID: earlier.id,
                    headers: [
                        "push-outcome": "rejected", "push-reason-class": "apns", "push-reason-code": "x",
                        "push-origin-queue": "origin.requests.urgent",
                    ])
            ])
            let redrive = try await fixture.deadLetters(["redrive", "--all", "--json"])
            #expect(try await redrive.exit().status == .exited(1))
            let lines = try await redrive.output.allLines().map { try JSONDocument($0).root }
            #expect(lines.count { $0["event"]?.string == "redriven" } == 2)
            let failed = lines.first { $0["event"]?.string == "failed" }
            let sentence = failed?["message"]?.string ?? ""
            let start = "the original request queue is unknown or not configured; run: martlet dead-letters redrive "
            #expect(sentence.hasPrefix(start))
            #expect(sentence.contains("--to origin.requests.urgent --json \(earlier.id), or: "), "\(sentence)")
            #expect(try await fixture.testClient.getAll(from: "origin.requests.urgent").isEmpty)
            let redriven = try await fixture.testClient.getAll(from: "origin.requests.bulk")
            #expect(Set(redriven.map(\.properties.messageID)) == [rejected.id, bad.id])
            let ofWorker = try #require(redriven.first { $0.properties.messageID == bad.id })
            #expect(ofWorker.properties.userID == "guest")
            #expect(ofWorker.header("push-origin-exchange") == "origin.requests")
            #expect(ofWorker.header("push-origin-routing-key") == "bulk")
            let ofBroker = try #require(redriven.first { $0.properties.messageID == rejected.id })
            #expect(ofBroker.properties.userID == nil && ofBroker.header("push-origin-queue") == "-")
            try await fixture.end()
        }

        /// Checks that the user ID survives a wait queue, from which the broker dead-letters the request.
        @Test func aRequestThatWaitedKeepsItsOrigin() async throws {
            let fixture = try await SystemFixture("waited", SystemFixture.Options(delays: ["1s"]))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("dead"))
            let sample = Sample(1)
            try await fixture.apns.request(
                "POST", "/v1/faults",
                #"{"id":"busy","action":{"answer":{"reason":"TooManyRequests"}},"count_max":1}"#)
            try await fixture.apns.request(
                "PUT", "/v1/devices/\(sample.device)", #"{"app":"com.example.app","state":"bad"}"#)
            let worker = try await fixture.worker()
            try await fixture.publish([sample])
            let letter = try #require(await fixture.testClient.collected(fixture.queue("dead"), atLeast: 1).first)
            #expect(letter.properties.header("push-attempt") == 2)
            #expect(letter.properties.userID == "guest")
            #expect(letter.header("push-origin-exchange") == "waited.requests")
            #expect(letter.header("push-original-message-id") == sample.id)
            _ = try await worker.stop()
            try await fixture.end()
        }

        /// Checks the broker's error for another user's ID. Workers recognize the error by its text.
        @Test func theBrokerRefusesAnotherUser() async throws {
            let broker = try await PrivateBroker.shared
            var properties = WireWriter()
            properties.short(1 << 4)
            properties.shortString("another-user")
            let message = RawPublisher.Message(
                exchange: "", routingKey: Array("q".utf8), properties: properties.bytes, body: [])
            let error = try await #require(throws: ProcessError.self) {
                try await RawPublisher.publish([message], to: broker.url)
            }
            #expect("\(error)".contains("406 PRECONDITION_FAILED - user_id property set to 'another-user'"), "\(error)")
        }
    }
}
