import Crypto
import JSON
import TestKit
import Testing

extension SystemTests {
    @Suite struct Fault {
        @Test func aKeyUnknownToAPNsHoldsItsRequestsUntilItIsRegistered() async throws {
            let key = try ES256PrivateKey.generate()
            let fixture = try await SystemFixture(
                "faulted", SystemFixture.Options(inFlightMax: 50, keyPEM: try key.pkcs8PEM(), delays: ["1s", "2s"]))
            try await fixture.applyTopology()
            let samples = Sample.make(300)
            try await fixture.publish(samples)
            try await fixture.testClient.tap(fixture.waitQueues, as: "faulted.overheard")
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.startWorker()
            let fault = try await worker.waitForLog("breaker opened, pushes held")
            #expect(fault.root["level"]?.string == "warning")
            #expect(fault.root["error"]?.string?.contains("InvalidProviderToken") == true)
            #expect(fault.root["apns.reason"]?.string == "InvalidProviderToken")
            #expect(fault.root["apns.route"]?.string?.contains("DEMOKEY001") == true)
            #expect(fault.root["apns.route"]?.string?.contains("127.0.0.1") == true)
            #expect(fault.root["apns.apps"]?.string == "com.example.app")

            // All requests wait in wait queues, except one probe at a time.
            _ = try await fixture.testClient.collected("faulted.overheard", atLeast: 299)
            #expect(worker.isRunning)
            try await fixture.apns.request("PUT", "/v1/teams/DEMOTEAM01/keys/DEMOKEY001", try Self.body(key))
            try await worker.waitForLog("breaker closed, pushes resumed")
            #expect(try worker.count(of: "not ready") == 0)
            try await fixture.results(of: samples, within: .seconds(30)).expectAcceptedOnFirstAttempt(samples)
            let counters = try await worker.stop()
            #expect(counters.root["message.in_flight"]?.int == 0)
            #expect(counters.root["message.requeued"]?.int == 0)
            try await fixture.expectNothingLeft()
            #expect(try Pushes(await fixture.end()).notAcceptedOnce(samples) == [])
        }

        private static func body(_ key: ES256PrivateKey) throws -> String {
            let pem = try key.publicKeyPEM().split(separator: "\n").joined(separator: "\\n")
            return #"{"public_key":"\#(pem)\n"}"#
        }
    }
}
