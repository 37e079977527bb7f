import AMQP
import JSON
import TestKit
import Testing

extension BrokerFaultTests {
    /// A broker that is down when the worker starts, and later crashes and restarts. The worker's connections use TLS.
    @Suite struct BrokerOutage {
        @Test func aWorkerWaitsForItsBrokerAndLosesNothingInACrash() async throws {
            let broker = try await DisruptableBroker.shared
            let fixture = try await SystemFixture(
                "away", broker: broker.url,
                SystemFixture.Options(url: broker.tlsURL, brokerAuthority: DisruptableBroker.authority))
            try await fixture.applyTopology()
            var samples = Sample.make(LongForm.pick(3000, short: 1000))
            try await fixture.publish(samples)
            // RabbitMQ 3.10 writes the names of new quorum queues to disk late. If the broker is killed earlier, the
            // queues never respond after the restart. A regular stop writes the names.
            try await broker.stop()
            let worker = try await fixture.startWorker()
            let away = try await worker.waitForLog("broker unreachable, retrying")
            #expect(away.root["error"]?.string?.isEmpty == false)
            try await broker.start()
            await fixture.testClient.collect(fixture.queue("results"))
            try await worker.waitForLog("ready")

            try await fixture.testClient.collected(fixture.queue("results"), atLeast: 200)
            try await broker.kill()
            try await worker.waitForLog("not ready")
            try await broker.start()
            try await worker.waitForLog("ready")

            // Results may arrive again with the same message ID. The worker repeats results whose confirms were lost,
            // and the broker redelivers unacknowledged results to this test.
            try await fixture.testClient.collected(fixture.queue("results"), ids: samples.count)
            // This request is queued behind all repeated messages.
            samples.append(Sample(samples.count))
            try await fixture.publish([samples[samples.count - 1]])
            try await fixture.testClient.collected(fixture.queue("results"), ids: samples.count)
            let results = await fixture.testClient.collected(fixture.queue("results"))
            let reported = try Set(results.map { try $0.json.root["id"]?.string })
            #expect(reported == Set(samples.map(\.id)))
            #expect(results.allSatisfy { $0.properties.messageID.map { reported.contains($0) } == true })

            // The same process is still running, and has pushed each request once.
            #expect(worker.isRunning)
            let counters = try await worker.stop()
            #expect(counters.root["message.accepted"]?.int == samples.count)
            try await fixture.expectNothingLeft()
            let seen = try await fixture.end().compactMap { $0.root["apns_id"]?.string }
            #expect(Set(seen) == Set(samples.map(\.id)))
            #expect(seen.count == samples.count)
        }
    }
}
