import AMQP
import Delivery
import TestKit
import Testing

extension SystemTests {
    /// Requests whose AMQP `expiration` ends at the broker.
    @Suite struct ExpiredRequests {
        /// The topology has been one of an earlier version, which made each a dead letter.
        @Test func eachGetsAResultAndIsNoDeadLetter() async throws {
            let stage = try await Stage("late")
            try await stage.applyTopology()
            try await stage.desk.lead(stage.queue("dlx"), to: stage.queue("dead"))
            try await stage.applyTopology()
            let samples = (1...50).map { Sample($0) }
            try await stage.desk.publish(
                samples.map {
                    var message = $0.message(to: "late")
                    message.expirationMilliseconds = 1
                    return message
                })
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            let told = try await stage.told(of: samples)
            for sample in samples {
                #expect(told[sample].map(\.outcome) == ["expired"])
                #expect(told[sample].map(\.isPossibleDuplicate) == [true], "by the broker, not by the worker")
            }
            _ = try await worker.stop()
            try await stage.expectNothingLeft()
            try await stage.end()
        }

        /// It has expired once, in a wait queue.
        @Test func aRequestThatWaitedAndIsRejectedBecomesADeadLetter() async throws {
            let stage = try await Stage("waiting", Stage.Options(delays: ["1s"]))
            try await stage.applyTopology()
            let sample = Sample(1)
            try await stage.apns.ask(
                "POST", "/v1/faults",
                #"{"id":"busy","action":{"answer":{"reason":"TooManyRequests"}},"count_max":1}"#)
            let worker = try await stage.worker()
            try await stage.publish([sample])
            try await stage.untilAsked(1, counter: "in_flight_max")
            _ = try await worker.stop()
            await stage.desk.reject(from: stage.queue("requests"))

            await stage.desk.collect(stage.queue("dead"))
            let again = try await stage.worker()
            let letter = try #require(await stage.desk.collected(stage.queue("dead"), atLeast: 1).first)
            _ = try await again.stop()
            #expect(letter.body == sample.body && letter.header("x-first-death-reason") == "expired")
            let death = try #require(BrokerDeath(letter.properties.headers ?? FieldTable()))
            #expect(death.reason == "rejected" && death.queue == "waiting.requests")
            try await stage.end()
        }
    }
}
