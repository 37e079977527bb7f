import AMQP
import Crypto
import JSON
import TestKit
import Testing

extension SystemTests {
    /// A broker that is not there, goes, comes back, and is reached over TLS. It is not the one that others share.
    @Suite struct BrokerAway {
        @Test func aWorkerThatIsStartedFirstWaits() async throws {
            let broker = try await TLSBroker()
            let stage = try await broker.stage("late")
            try await stage.applyTopology()
            try await broker.broker.stop()
            let worker = try await stage.startWorker()
            let away = try await worker.said("cannot reach the broker; trying on")
            #expect(away.root["error"]?.string?.isEmpty == false)
            try await broker.broker.start()
            try await worker.said("ready")

            await stage.desk.collect(stage.queue("results"))
            try await stage.publish(Sample.make(10))
            try await stage.desk.collected(stage.queue("results"), atLeast: 10)
            _ = try await worker.stop()
            try await stage.end()
            try await broker.broker.end()
        }

        @Test func aBrokerThatCrashesWhileMessagesFlowLosesNone() async throws {
            let broker = try await TLSBroker()
            let stage = try await broker.stage("crashed")
            try await stage.applyTopology()
            // RabbitMQ 3.10 writes the names of new quorum queues to disk late: killed before, it comes back with queues
            // that never answer. A restart in order writes them.
            try await broker.broker.stop()
            try await broker.broker.start()
            let samples = Sample.make(3000)
            try await stage.publish(samples)
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            try await stage.desk.collected(stage.queue("results"), atLeast: 200)
            try await broker.broker.kill()
            try await worker.said("not ready")
            try await broker.broker.start()
            try await worker.said("ready")

            // A result whose confirm was lost, or a delivery to this test, comes again: with the same message id.
            try await stage.desk.collected(stage.queue("results"), ids: samples.count)
            let results = await stage.desk.collected(stage.queue("results"))
            let told = try Set(results.map { try $0.json.root["id"]?.string })
            #expect(told == Set(samples.map(\.id)))
            #expect(results.allSatisfy { $0.properties.messageID.map { told.contains($0) } == true })

            // The same process settles and sends none of them twice.
            #expect(worker.isRunning)
            let counters = try await worker.stop()
            #expect(counters.root["message.accepted"]?.int == samples.count)
            try await stage.expectNothingLeft()
            let seen = try await stage.end().compactMap { $0.root["apns_id"]?.string }
            #expect(Set(seen) == Set(samples.map(\.id)))
            #expect(seen.count == samples.count)
            try await broker.broker.end()
        }
    }
}

/// A broker with a certificate of the test's own authority.
private struct TLSBroker {
    let broker: PrivateBroker
    private let authority: CertificateAuthority
    private let directory: TemporaryDirectory

    init() async throws {
        directory = try TemporaryDirectory("broker")
        authority = try CertificateAuthority.make(name: "broker-away")
        let server = try authority.issueServer(dnsNames: ["localhost"], ipAddresses: [])
        broker = try await PrivateBroker(
            certificate: (
                directory.write("server.pem", server.certificatePEM),
                directory.write("server-key.pem", server.privateKeyPEM)
            ))
    }

    /// A stage whose worker reaches the broker over TLS.
    func stage(_ prefix: String) async throws -> Stage {
        try await Stage(
            prefix, broker: broker.url,
            Stage.Options(url: broker.tlsURL, brokerAuthority: authority.certificatePEM))
    }
}
