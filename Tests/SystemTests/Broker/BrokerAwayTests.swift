import AMQP
import JSON
import TestKit
import Testing

extension TroubledBrokerTests {
    /// A broker that is not there, comes, crashes and comes back, and is reached over TLS.
    @Suite struct BrokerAway {
        @Test func aWorkerWaitsForItsBrokerAndLosesNothingWhenThatCrashes() async throws {
            let broker = try await TroubledBroker.shared
            let fixture = try await SystemFixture(
                "away", broker: broker.url,
                SystemFixture.Options(url: broker.tlsURL, brokerAuthority: TroubledBroker.authority))
            try await fixture.applyTopology()
            var samples = Sample.make(LongForm.pick(3000, short: 1000))
            try await fixture.publish(samples)
            // RabbitMQ 3.10 writes the names of new quorum queues to disk late: killed before, it comes back with queues
            // that never answer. A stop in order writes them.
            try await broker.stop()
            let worker = try await fixture.startWorker()
            let away = try await worker.said("broker unreachable, retrying")
            #expect(away.root["error"]?.string?.isEmpty == false)
            try await broker.start()
            await fixture.testClient.collect(fixture.queue("results"))
            try await worker.said("ready")

            try await fixture.testClient.collected(fixture.queue("results"), atLeast: 200)
            try await broker.kill()
            try await worker.said("not ready")
            try await broker.start()
            try await worker.said("ready")

            // A result whose confirm was lost, or a delivery to this test, comes again: with the same message id.
            try await fixture.testClient.collected(fixture.queue("results"), ids: samples.count)
            // Behind all that comes again.
            samples.append(Sample(samples.count))
            try await fixture.publish([samples[samples.count - 1]])
            try await fixture.testClient.collected(fixture.queue("results"), ids: samples.count)
            let results = await fixture.testClient.collected(fixture.queue("results"))
            let told = try Set(results.map { try $0.json.root["id"]?.string })
            #expect(told == Set(samples.map(\.id)))
            #expect(results.allSatisfy { $0.properties.messageID.map { told.contains($0) } == true })

            // The same process settles and sends none of them twice.
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
