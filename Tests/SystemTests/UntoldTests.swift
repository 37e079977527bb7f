import JSON
import TestKit
import Testing

extension SystemTests {
    /// What was decided and cannot be published is kept until it can.
    @Suite struct Untold {
        /// As long as it once took until a lane gave up.
        private static let outage = LongForm.pick(Duration.seconds(60), short: .seconds(14))
        private static let stuck = "what became of messages cannot be published; no more are taken until it can"
        private static let mended = "what became of messages is published again"

        @Test func resultsThatNoQueueTakesAreToldWhenOneDoesAndNothingIsPushedAgain() async throws {
            let stage = try await Stage("untold", Stage.Options(inFlightMax: 200, lanes: 2))
            try await stage.applyTopology()
            let worker = try await stage.worker()
            try await stage.desk.delete([stage.queue("results"), stage.queue("unrouted")])
            let samples = Sample.make(1000)
            try await stage.publish(samples)
            try await worker.said(Self.stuck)
            await stage.desk.pass(Self.outage)
            #expect(try stage.recorded().count <= 400)
            #expect(try worker.count(of: "not ready") >= 1)

            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            try await stage.told(of: samples).expectAcceptedAtOnce(samples)
            try await worker.said(Self.mended)
            _ = try await worker.stop()
            try await stage.expectNothingLeft()
            let record = try await stage.end()
            #expect(record.count == samples.count)
            #expect(Pushes(record).notTakenOnce(samples) == [])
        }

        @Test func aWaitQueueThatIsMissingIsWaitedFor() async throws {
            let stage = try await Stage("unwaited", Stage.Options(delays: ["1s"]))
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let samples = Sample.make(50)
            try await stage.apns.ask(
                "POST", "/v1/faults",
                """
                {"id":"busy","match":{"device_prefix":"\(samples[0].device)"},"count_max":1,
                 "action":{"answer":{"reason":"TooManyRequests"}}}
                """)
            let worker = try await stage.worker()
            try await stage.desk.delete(stage.waitQueues)
            try await stage.publish(samples)
            let stuck = try await worker.said(Self.stuck)
            #expect(stuck.root["error"]?.string?.contains("martlet topology apply") == true)
            try await stage.applyTopology()
            let results = try await stage.told(of: samples)
            results.expectAcceptedAtOnce(Array(samples.dropFirst()))
            #expect(results[samples[0]].map(\.outcome) == ["accepted"])
            #expect(results[samples[0]].map(\.attempts) == [2])
            try await worker.said(Self.mended)
            _ = try await worker.stop()
            try await stage.expectNothingLeft()
            #expect(try Pushes(await stage.end()).notTakenOnce(samples) == [])
        }
    }
}
