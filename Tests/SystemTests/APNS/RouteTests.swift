import TestKit
import Testing

extension SystemTests {
    /// Faults that affect only some pushes, such as those of one key or environment.
    ///
    /// Other pushes continue. Held pushes resume after the fault ends.
    @Suite struct Routes {
        @Test func aRevokedKeyAndAForeignEnvironmentHoldOnlyTheirOwnPushes() async throws {
            let revoked = try FixtureKey("REVOKED001", apps: ["com.example.revoked"])
            let bound = try FixtureKey("BOUND00001", apps: ["com.example.bound"], environments: ["production"])
            let fixture = try await SystemFixture(
                "routes", SystemFixture.Options(keys: [revoked, bound], delays: ["1s", "2s"], hasSandbox: true))
            try await fixture.applyTopology()
            try await revoked.revoke(at: fixture.apns)
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            // These pushes succeed first, so that the worker knows that the other routes are good.
            let used =
                Sample.make(1, from: 10) + Sample.make(1, from: 11, environment: "sandbox")
                + Sample.make(1, from: 12, app: "com.example.bound")
            try await fixture.publish(used)
            _ = try await fixture.results(of: used)
            let ofRevoked = Sample.make(5, app: "com.example.revoked")
            let foreign = Sample.make(1, from: 5, app: "com.example.bound", environment: "sandbox")
            try await fixture.publish(ofRevoked + foreign)
            for _ in 0..<2 { try await worker.waitForLog("breaker opened, pushes held") }

            let others =
                Sample.make(100, from: 100) + Sample.make(100, from: 200, environment: "sandbox")
                + Sample.make(100, from: 300, app: "com.example.bound")
            try await fixture.publish(others)
            let early = try await fixture.results(of: others, within: .seconds(5))
            early.expectAcceptedOnFirstAttempt(others)
            #expect(early.byID.count == used.count + others.count)

            try await revoked.revoke(false, at: fixture.apns)
            try await bound.allow(["production", "sandbox"], at: fixture.apns)
            for _ in 0..<2 { try await worker.waitForLog("breaker closed, pushes resumed") }
            let all = used + others + ofRevoked + foreign
            try await fixture.results(of: all, within: .seconds(30)).expectAcceptedOnFirstAttempt(all)
            #expect(try worker.count(of: "breaker opened, pushes held") == 2)
            #expect(try worker.count(of: "not ready") == 0)
            _ = try await worker.stop()
            try await fixture.expectNothingLeft()
            #expect(try Pushes(await fixture.end()).notAcceptedOnce(all) == [])
        }

        @Test func aRequestForAnEnvironmentThatItsKeyIsNotPinnedToIsInvalid() async throws {
            let pinned = try FixtureKey(
                "PINNED0001", apps: ["com.example.pinned"], environments: ["production"], isPinned: true)
            let fixture = try await SystemFixture("pinned", SystemFixture.Options(keys: [pinned], hasSandbox: true))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let good = Sample.make(1, app: "com.example.pinned")
            let foreign = Sample.make(1, from: 1, app: "com.example.pinned", environment: "sandbox")
            try await fixture.publish(foreign + good)
            let results = try await fixture.results(of: foreign + good)
            results.expectAcceptedOnFirstAttempt(good)
            #expect(results[foreign[0]].map(\.outcome) == ["invalid"])
            #expect(results[foreign[0]].map(\.attempts) == [0])
            _ = try await worker.stop()
            #expect(try await fixture.end().count == 1)
        }

        @Test func aProxysErrorPageForOnePushHoldsNoOthers() async throws {
            let fixture = try await SystemFixture("proxy", SystemFixture.Options(delays: ["1s"]))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let samples = Sample.make(100)
            try await fixture.apns.request(
                "POST", "/v1/faults",
                """
                {"id":"proxy","match":{"device_prefix":"\(samples[0].device)"},"count_max":1,
                 "action":{"answer":{"status":403,"content_type":"text/html","body":"<html>Forbidden</html>"}}}
                """)
            let worker = try await fixture.worker()
            try await fixture.publish(samples)
            let results = try await fixture.results(of: samples)
            results.expectAcceptedOnFirstAttempt(Array(samples.dropFirst()))
            #expect(results[samples[0]].map(\.outcome) == ["accepted"])
            #expect(try worker.count(of: "breaker opened, pushes held") == 0)
            #expect(try worker.count(of: "not ready") == 0)
            _ = try await worker.stop()
            let pushes = try Pushes(await fixture.end())
            #expect(pushes[samples[0]].map(\.status) == [403, 200])
            #expect(pushes.notAcceptedOnce(samples) == [])
        }
    }
}
