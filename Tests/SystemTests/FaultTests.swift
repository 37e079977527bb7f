import AMQP
import Crypto
import JSON
import TestKit
import Testing

extension SystemTests {
    @Suite struct Fault {
        @Test func aKeyThatAPNsDoesNotKnowStopsConsumingAndLosesNothing() async throws {
            let stage = try await Stage("faulted", Stage.Options(keyPEM: ES256PrivateKey.generate().pkcs8PEM()))
            try await stage.applyTopology()
            let samples = Sample.make(300)
            try await stage.publish(samples)
            let worker = try await stage.startWorker()
            let fault = try await worker.said("Consuming stops until somebody acts")
            #expect(fault.root["level"]?.string == "error")
            #expect(fault.root["error"]?.string?.contains("InvalidProviderToken") == true)
            #expect(fault.root["apns.key_id"]?.string == "DEMOKEY001")
            #expect(fault.root["apns.team_id"]?.string == "DEMOTEAM01")
            #expect(fault.root["apns.host"]?.string?.hasPrefix("127.0.0.1") == true)
            try await worker.said("not ready")

            // It still runs, and holds none of them.
            let back = try await stage.left(samples.count)
            #expect(Set(back.compactMap(\.properties.messageID)) == Set(samples.map(\.id)))
            #expect(back.count == samples.count)
            for queue in ["results", "dead", "wait"] {
                #expect(try await stage.takeAll(queue).isEmpty, "\(queue)")
            }
            #expect(worker.isRunning)
            let counters = try await worker.stop()
            #expect(counters.root["message.in_flight"]?.int == 0)
            #expect(counters.root["message.requeued"]?.int ?? 0 > 0)
            let seen = try await stage.end()
            #expect(Set(seen.map { $0.root["status"]?.int }) == [403])
        }
    }
}
