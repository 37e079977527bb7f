import AMQP
import TestKit
import Testing

extension ChangingWorkerTests {
    /// A request queue that is split into shards and merged again while requests are published.
    @Suite struct Sharding {
        private static let shardsMost = 8
        /// The shard counts to apply, in order. The second step changes nothing.
        private static let shards = LongForm.pick([4, 4, 2, 1, 8, 3, 1, 64, 1], short: [4, 4, 2, 1])

        private static func broker() async throws -> PrivateBroker {
            try await PrivateBroker(plugins: ["rabbitmq_consistent_hash_exchange"])
        }

        private static func topology(_ command: String, _ shards: Int, _ fixture: SystemFixture) async throws -> (
            code: ChildExit.Status, lines: [String]
        ) {
            var options = SystemFixture.Options()
            options.shards = shards
            try fixture.write(options)
            let result = try await ChildProcess.run([
                Products.executable("martlet"), "topology", command, "--config", fixture.configuration,
            ])
            return (result.exit.status, result.output + result.errors)
        }

        @Test func requestsPublishedDuringAChangeReachOneQueueEach() async throws {
            let broker = try await Self.broker()
            let fixture = try await SystemFixture("divided", broker: broker.url)
            try await fixture.applyTopology()
            let queues = [fixture.queue("requests")] + (0..<64).map { fixture.queue("requests.\($0)") }
            let publishing = Task { [testClient = fixture.testClient] in
                var count = 0
                while !Task.isCancelled {
                    let first = count
                    try await testClient.publish(100) { number in
                        OutgoingMessage(
                            exchange: "divided.requests", routingKey: "any", body: [], messageID: "\(first + number)")
                    }
                    count += 100
                    await testClient.sleep(for: .milliseconds(10))
                }
                return count
            }
            for queue in queues.prefix(Self.shardsMost + 1) { await fixture.testClient.collect(queue) }
            for shards in Self.shards {
                let (code, lines) = try await Self.topology("apply", shards, fixture)
                #expect(code == .exited(0), "\(shards): \(lines)")
                await fixture.testClient.sleep(for: .milliseconds(300))
            }
            publishing.cancel()
            let published = try await publishing.value
            var found: [String] = []
            for queue in queues.prefix(Self.shardsMost + 1) {
                found += await fixture.testClient.collected(queue).compactMap(\.properties.messageID)
            }
            let clock = ContinuousClock()
            let end = clock.now + .seconds(30)
            while Set(found).count < published, clock.now < end {
                await fixture.testClient.sleep(for: .milliseconds(100))
                found = []
                for queue in queues.prefix(Self.shardsMost + 1) {
                    found += await fixture.testClient.collected(queue).compactMap(\.properties.messageID)
                }
                // The remaining shards have no consumers.
                for queue in queues.dropFirst(Self.shardsMost + 1) {
                    found +=
                        (try? await fixture.testClient.getAll(from: queue).compactMap(\.properties.messageID)) ?? []
                }
            }
            #expect(Set(found).count == published, "requests were lost")
            #expect(found.count == published, "requests are in two queues")
            print("\(published) requests during the shard counts \(Self.shards)")
            try await fixture.end()
            try await broker.end()
        }

        /// Checks the documented guarantees of the consistent hash exchange, and its routing of messages without an ID.
        @Test func aRequestGoesToAShardByItsMessageID() async throws {
            let broker = try await Self.broker()
            let fixture = try await SystemFixture("hashed", broker: broker.url)
            #expect(try await Self.topology("apply", 4, fixture).code == .exited(0))
            #expect(try await Self.topology("check", 4, fixture).code == .exited(0))
            let shards = (0..<4).map { fixture.queue("requests.\($0)") }
            func depths() async throws -> [[String]] {
                var ids: [[String]] = []
                for shard in shards {
                    ids.append(try await fixture.testClient.getAll(from: shard).map { $0.properties.messageID ?? "-" })
                }
                return ids
            }
            func publish() async throws {
                try await fixture.testClient.publish(2000) { number in
                    OutgoingMessage(
                        exchange: "hashed.requests", routingKey: "any", body: [], messageID: Sample(number).id)
                }
            }
            try await publish()
            try await publish()
            let twice = try await depths()
            #expect(twice.allSatisfy { ids in ids.count == Set(ids).count * 2 }, "duplicates are in different shards")
            let first = twice.map { Array(Set($0)) }
            #expect(first.joined().count == 2000)
            #expect(first.allSatisfy { 400...600 ~= $0.count }, "\(first.map(\.count))")
            try await broker.restart()
            try await publish()
            let second = try await depths()
            // After a restart, the broker restores bindings in any order, so another shard may receive a group of IDs.
            #expect(Set(first.map { Set($0) }) == Set(second.map { Set($0) }), "a group of IDs was split")

            let raw = RawPublisher.Message(
                exchange: "hashed.requests", routingKey: Array("any".utf8), properties: RawProperties().bytes, body: [])
            try await RawPublisher.publish(Array(repeating: raw, count: 50), to: broker.url)
            #expect(
                try await depths().map(\.count).filter { $0 > 0 } == [50], "not all requests are in one shard"
            )
            #expect(try await fixture.testClient.getAll(from: fixture.queue("requests")).isEmpty)
            try await fixture.end()
            try await broker.end()
        }

        @Test func aMissingPluginIsNamedAndNothingElseChanges() async throws {
            let fixture = try await SystemFixture("plain")
            try await fixture.applyTopology()
            let (code, lines) = try await Self.topology("apply", 3, fixture)
            #expect(code == .exited(1))
            let words = "rabbitmq-plugins enable rabbitmq_consistent_hash_exchange"
            #expect(
                lines.contains {
                    $0.hasPrefix("martlet: failed   exchange plain.requests.shards: ") && $0.contains(words)
                })
            #expect(lines.contains("created  queue plain.requests.2"))
            let check = try await Self.topology("check", 3, fixture)
            #expect(check.code == .exited(1))
            #expect(check.lines.contains { $0.hasPrefix("missing  plugin rabbitmq_consistent_hash_exchange: ") })
            // Requests still reach the original queue.
            try await fixture.publish([Sample(1)])
            #expect(try await fixture.testClient.getAll(from: fixture.queue("requests")).count == 1)
            try await fixture.end()
        }
    }
}
