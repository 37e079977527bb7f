import AMQP
import Delivery
import TestKit
import Testing

extension SystemTests {
    /// Requests whose AMQP `expiration` passes while they are queued at the broker.
    @Suite struct ExpiredRequests {
        /// Upgrades a topology of an earlier version, in which expired requests became dead letters.
        @Test func eachExpiredRequestGetsAResultAndIsNoDeadLetter() async throws {
            let fixture = try await SystemFixture("late")
            try await fixture.applyTopology()
            try await fixture.testClient.bindFanout(fixture.queue("dlx"), to: fixture.queue("dead"))
            try await fixture.applyTopology()
            let samples = (1...50).map { Sample($0) }
            try await fixture.testClient.publish(
                samples.map {
                    var message = $0.message(to: "late")
                    message.expirationMilliseconds = 1
                    return message
                })
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let reported = try await fixture.results(of: samples)
            for sample in samples {
                #expect(reported[sample].map(\.outcome) == ["expired"])
                #expect(
                    reported[sample].map(\.isPossibleDuplicate) == [true], "a request expired in the worker")
            }
            _ = try await worker.stop()
            try await fixture.expectNothingLeft()
            try await fixture.end()
        }

        /// Rejects a request that has already expired once, in a wait queue.
        @Test func aRequestThatWaitedAndIsRejectedBecomesADeadLetter() async throws {
            let fixture = try await SystemFixture("waiting", SystemFixture.Options(delays: ["1s"]))
            try await fixture.applyTopology()
            let sample = Sample(1)
            try await fixture.apns.request(
                "POST", "/v1/faults",
                #"{"id":"busy","action":{"answer":{"reason":"TooManyRequests"}},"count_max":1}"#)
            let worker = try await fixture.worker()
            try await fixture.publish([sample])
            try await fixture.waitForUnansweredRequests(1, counter: "in_flight_max")
            _ = try await worker.stop()
            await fixture.testClient.reject(from: fixture.queue("requests"))

            await fixture.testClient.collect(fixture.queue("dead"))
            let again = try await fixture.worker()
            let letter = try #require(await fixture.testClient.collected(fixture.queue("dead"), atLeast: 1).first)
            _ = try await again.stop()
            #expect(letter.body == sample.body && letter.header("x-first-death-reason") == "expired")
            let death = try #require(BrokerDeath(letter.properties.headers ?? FieldTable()))
            #expect(death.reason == "rejected" && death.queue == "waiting.requests")
            try await fixture.end()
        }
    }
}
