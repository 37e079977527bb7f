import Crypto
import JSON
import TestKit
import Testing

extension SystemTests {
    @Suite struct Fault {
        @Test func aKeyThatAPNsDoesNotKnowHoldsItsRequestsUntilItDoes() async throws {
            let key = try ES256PrivateKey.generate()
            let stage = try await Stage(
                "faulted", Stage.Options(inFlightMax: 50, keyPEM: try key.pkcs8PEM(), delays: ["1s", "2s"]))
            try await stage.applyTopology()
            let samples = Sample.make(300)
            try await stage.publish(samples)
            try await stage.desk.overhear(stage.waitQueues, as: "faulted.overheard")
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.startWorker()
            let fault = try await worker.said("pushes are held up")
            #expect(fault.root["level"]?.string == "warning")
            #expect(fault.root["error"]?.string?.contains("InvalidProviderToken") == true)
            #expect(fault.root["apns.reason"]?.string == "InvalidProviderToken")
            #expect(fault.root["apns.route"]?.string?.contains("DEMOKEY001") == true)
            #expect(fault.root["apns.route"]?.string?.contains("127.0.0.1") == true)
            #expect(fault.root["apns.apps"]?.string == "com.example.app")

            // All wait at the broker, but for one at a time that probes.
            _ = try await stage.desk.collected("faulted.overheard", atLeast: 299)
            #expect(worker.isRunning)
            try await stage.apns.ask("PUT", "/v1/teams/DEMOTEAM01/keys/DEMOKEY001", try Self.body(key))
            try await worker.said("pushes go on")
            #expect(try worker.count(of: "not ready") == 0)
            try await stage.told(of: samples, within: .seconds(30)).expectAcceptedAtOnce(samples)
            let counters = try await worker.stop()
            #expect(counters.root["message.in_flight"]?.int == 0)
            #expect(counters.root["message.requeued"]?.int == 0)
            try await stage.expectNothingLeft()
            #expect(try Pushes(await stage.end()).notTakenOnce(samples) == [])
        }

        private static func body(_ key: ES256PrivateKey) throws -> String {
            let pem = try key.publicKeyPEM().split(separator: "\n").joined(separator: "\\n")
            return #"{"public_key":"\#(pem)\n"}"#
        }
    }
}
