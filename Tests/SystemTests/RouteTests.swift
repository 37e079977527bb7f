import TestKit
import Testing

extension SystemTests {
    /// What is wrong with a key, or with the environment that a message names, hurts nothing else and heals by itself.
    @Suite struct Routes {
        @Test func aRevokedKeyAndAForeignEnvironmentHoldUpTheirOwnPushesAlone() async throws {
            let revoked = try StageKey("REVOKED001", apps: ["com.example.revoked"])
            let bound = try StageKey("BOUND00001", apps: ["com.example.bound"], environments: ["production"])
            let stage = try await Stage(
                "routes", Stage.Options(keys: [revoked, bound], delays: ["1s", "2s"], hasSandbox: true))
            try await stage.applyTopology()
            try await revoked.revoke(at: stage.apns)
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            // The worker knows that there are others.
            let used =
                Sample.make(1, from: 10) + Sample.make(1, from: 11, environment: "sandbox")
                + Sample.make(1, from: 12, app: "com.example.bound")
            try await stage.publish(used)
            _ = try await stage.told(of: used)
            let ofRevoked = Sample.make(5, app: "com.example.revoked")
            let foreign = Sample.make(1, from: 5, app: "com.example.bound", environment: "sandbox")
            try await stage.publish(ofRevoked + foreign)
            for _ in 0..<2 { try await worker.said("pushes are held up") }

            let others =
                Sample.make(100, from: 100) + Sample.make(100, from: 200, environment: "sandbox")
                + Sample.make(100, from: 300, app: "com.example.bound")
            try await stage.publish(others)
            let early = try await stage.told(of: others, within: .seconds(5))
            early.expectAcceptedAtOnce(others)
            #expect(early.byID.count == used.count + others.count)

            try await revoked.revoke(false, at: stage.apns)
            try await bound.allow(["production", "sandbox"], at: stage.apns)
            for _ in 0..<2 { try await worker.said("pushes go on") }
            let all = used + others + ofRevoked + foreign
            try await stage.told(of: all, within: .seconds(30)).expectAcceptedAtOnce(all)
            #expect(try worker.count(of: "pushes are held up") == 2)
            #expect(try worker.count(of: "not ready") == 0)
            _ = try await worker.stop()
            try await stage.expectNothingLeft()
            #expect(try Pushes(await stage.end()).notTakenOnce(all) == [])
        }

        @Test func aMessageForAnEnvironmentThatItsKeyIsNotPinnedToIsInvalid() async throws {
            let pinned = try StageKey(
                "PINNED0001", apps: ["com.example.pinned"], environments: ["production"], isPinned: true)
            let stage = try await Stage("pinned", Stage.Options(keys: [pinned], hasSandbox: true))
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            let good = Sample.make(1, app: "com.example.pinned")
            let foreign = Sample.make(1, from: 1, app: "com.example.pinned", environment: "sandbox")
            try await stage.publish(foreign + good)
            let results = try await stage.told(of: foreign + good)
            results.expectAcceptedAtOnce(good)
            #expect(results[foreign[0]].map(\.outcome) == ["invalid"])
            #expect(results[foreign[0]].map(\.attempts) == [0])
            _ = try await worker.stop()
            #expect(try await stage.end().count == 1)
        }

        @Test func aProxysPageForOneMessageStopsNothing() async throws {
            let stage = try await Stage("proxy", Stage.Options(delays: ["1s"]))
            try await stage.applyTopology()
            await stage.desk.collect(stage.queue("results"))
            let samples = Sample.make(100)
            try await stage.apns.ask(
                "POST", "/v1/faults",
                """
                {"id":"proxy","match":{"device_prefix":"\(samples[0].device)"},"count_max":1,
                 "action":{"answer":{"status":403,"content_type":"text/html","body":"<html>Forbidden</html>"}}}
                """)
            let worker = try await stage.worker()
            try await stage.publish(samples)
            let results = try await stage.told(of: samples)
            results.expectAcceptedAtOnce(Array(samples.dropFirst()))
            #expect(results[samples[0]].map(\.outcome) == ["accepted"])
            #expect(try worker.count(of: "pushes are held up") == 0)
            #expect(try worker.count(of: "not ready") == 0)
            _ = try await worker.stop()
            let pushes = try Pushes(await stage.end())
            #expect(pushes[samples[0]].map(\.status) == [403, 200])
            #expect(pushes.notTakenOnce(samples) == [])
        }
    }
}
