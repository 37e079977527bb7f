import AMQP
import Glibc
import TestKit
import Testing

extension SystemTests {
    /// Failures of nodes and workers. Two workers consume from four shards on a cluster of three nodes.
    ///
    /// Every request gets a result, and no request is lost. All tests share one cluster. `deploy/trial/cluster` runs
    /// the tests, because they take minutes.
    @Suite(.serialized, .enabled(if: LongForm.isOn || Glibc.getenv("MARTLET_CLUSTER") != nil)) struct ShardedCluster {
        private static let nodes = Task {
            try await PrivateCluster(
                settings: ["net_ticktime = 8"],
                firstGroup: PartitionedNetwork.isAvailable ? PartitionedNetwork.firstGroup : nil)
        }
        private static let shards = 4
        private static let workers = 2
        private static let rounds = LongForm.pick(3, short: 1)
        private static let requests = LongForm.pick(30_000, short: 3000)
        /// The publish rate during the disruption. Before the workers start, `requests` requests are queued.
        private static let requestsPerSecond = LongForm.pick(200, short: 100)
        private static let kills = LongForm.pick(10, short: 4)
        private static let frozenSeconds = 30
        private static let partitionSeconds = LongForm.pick(30, short: 3)

        @Test func nodesKilledOneAfterTheOther() async throws {
            try await Self.underLoad("nodes") { fixture, cluster, _ in
                // Only the first test checks the spread. After an outage of a node, the broker places all new queues on
                // the node that leads the fewest queues.
                try await fixture.expectSpread(Self.shards, cluster)
                for round in 0..<Self.rounds {
                    for node in cluster.nodes {
                        try await node.kill()
                        let continues = await fixture.reportsMoreResults(round == 0 ? 100 : 500)
                        #expect(continues, "no more results while \(node.nodeName) was down")
                        try await node.start()
                    }
                }
            }
        }

        /// Cuts nodes off. Clients of a node do not notice the partition immediately.
        ///
        /// In `parted`, workers have published results through the node that leads the results queue. In
        /// `parted-first`, workers publish their first results after the node is cut off.
        @Test(.enabled(if: PartitionedNetwork.isAvailable), arguments: [("parted", nil), ("parted-first", 6)])
        func aPartitionThatHeals(_ prefix: String, firstAnswersSeconds: Int?) async throws {
            let network = try await PartitionedNetwork(Self.nodes.value)
            try await Self.underLoad(prefix, firstAnswersSeconds: firstAnswersSeconds) { fixture, cluster, _ in
                // The first node to cut off leads the results queue, on which all results depend.
                let first = try await fixture.leaderOfResults(cluster)
                for round in 0..<Self.rounds {
                    let node = (first + round) % cluster.nodes.count
                    try await network.partition(node)
                    if round == 0, firstAnswersSeconds != nil {
                        #expect(await fixture.testClient.collected(fixture.queue("results")).isEmpty)
                        try await fixture.apns.request("DELETE", "/v1/faults/first")
                    }
                    try await cluster.nodes[(node + 1) % cluster.nodes.count].untilSeeing(cluster.nodes.count - 1)
                    await fixture.testClient.sleep(for: .seconds(Self.partitionSeconds))
                    let continues = await fixture.reportsMoreResults(100)
                    #expect(continues, "no more results while \(cluster.nodes[node].nodeName) was cut off")
                    try await network.heal(node)
                    try await cluster.untilWhole()
                }
            }
        }

        /// Freezes each node for longer than the cluster's net tick timeout.
        @Test(.enabled(if: LongForm.isOn)) func aNodeThatFreezes() async throws {
            try await Self.underLoad("cold") { fixture, cluster, _ in
                for node in cluster.nodes {
                    await node.pause()
                    await fixture.testClient.sleep(for: .seconds(Self.frozenSeconds))
                    _ = await fixture.reportsMoreResults(100)
                    await node.resume()
                    try await cluster.untilWhole()
                }
            }
        }

        /// Replaces each killed worker with a new worker, and adds another worker at the end. Every worker consumes
        /// from all shards.
        @Test func workersThatAreKilledAndAdded() async throws {
            try await Self.underLoad("workers") { fixture, _, running in
                for _ in 0..<Self.kills {
                    running.removeFirst().send(signal: SIGKILL)
                    running.append(try await fixture.worker())
                    let continues = await fixture.reportsMoreResults(200)
                    #expect(continues)
                }
                running.append(try await fixture.worker())
                let continues = await fixture.reportsMoreResults(200)
                #expect(continues)
            }
        }

        /// Runs workers under steady load, disrupts them or the cluster, and checks that every request is pushed and
        /// reported.
        ///
        /// - Parameter firstAnswersSeconds: The latency of responses until `disrupt` removes the fault `first`; nil for
        ///   no fault.
        private static func underLoad(
            _ prefix: String, firstAnswersSeconds: Int? = nil,
            _ disrupt: (SystemFixture, PrivateCluster, _ workers: inout [ChildProcess]) async throws -> Void
        ) async throws {
            let cluster = try await nodes.value
            var options = SystemFixture.Options(
                simulator: ["--delay-ms", "\(LongForm.pick(100, short: 500))"], inFlightMax: 50, delays: ["1s"])
            options.shards = shards
            let fixture = try await SystemFixture(prefix, broker: cluster.url, options)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let waiting = Sample.make(requests)
            try await fixture.publish(waiting)
            if let firstAnswersSeconds {
                try await fixture.apns.request(
                    "POST", "/v1/faults",
                    #"{"id":"first","action":{"latency":{"constant_ms":\#(firstAnswersSeconds * 1000)}}}"#)
            }
            var running: [ChildProcess] = []
            for _ in 0..<workers { running.append(try await fixture.worker()) }
            let publishing = Task { [waiting] in
                try await fixture.publishSteadily(from: waiting.count, perSecond: requestsPerSecond)
            }
            do {
                try await disrupt(fixture, cluster, &running)
            } catch {
                publishing.cancel()
                for worker in running { print(worker.errors.linesSoFar.suffix(8).joined(separator: "\n")) }
                for node in cluster.nodes {
                    let seen = try? await node.rabbitmqctl(
                        "list_queues", "name", "leader", "online", "messages", "consumers")
                    print(node.nodeName, (seen ?? ["is down"]).joined(separator: "\n"))
                }
                throw error
            }
            publishing.cancel()
            let (published, repeated) = try await publishing.value

            let samples = waiting + published
            _ = try await fixture.results(of: samples, within: .seconds(LongForm.pick(600, short: 90)))
            for worker in running { _ = try await worker.stop() }
            let results = try await fixture.allResults()
            let unexpected = results.unexpected(samples) { $0.allSatisfy { $0.outcome == "accepted" } }
            #expect(unexpected.isEmpty, "\(unexpected.prefix(3).map { results[$0] })")
            try await fixture.expectNothingLeft()
            for shard in 0..<shards {
                #expect(try await fixture.testClient.getAll(from: fixture.queue("requests.\(shard)")).isEmpty)
            }

            let pushes = try Pushes(await fixture.end())
            #expect(samples.filter { pushes.acceptedCount(of: $0) == 0 }.map(\.id) == [], "requests were lost")
            let twice = samples.filter { pushes.acceptedCount(of: $0) > 1 }
            // A worker cannot detect that the test published a request again because a confirm was missing.
            let unmarked = twice.filter { sample in
                !repeated.contains(sample.id) && !results[sample].contains { $0.isPossibleDuplicate }
            }
            #expect(unmarked.map(\.id) == [])
            print(
                "\(prefix): \(twice.count) of \(samples.count) pushed twice, "
                    + "including \(twice.count { repeated.contains($0.id) }) that were published twice after a missing confirm"
            )
        }
    }
}

extension SystemFixture {
    /// Returns whether `count` more results arrive within 45 seconds.
    ///
    /// In this time, a worker can notice that the broker refuses every publish on a channel, and open another channel.
    fileprivate func reportsMoreResults(_ count: Int) async -> Bool {
        let clock = ContinuousClock()
        let start = clock.now
        let reported = await testClient.collected(queue("results")).count
        let all = try? await testClient.collected(queue("results"), atLeast: reported + count, within: .seconds(45))
        print("\(prefix): \(clock.now - start) until more results arrived")
        return all != nil
    }

    /// Checks that the leaders of the shards are on more than one node.
    fileprivate func expectSpread(_ shards: Int, _ cluster: PrivateCluster) async throws {
        let all = try await cluster.leaders()
        let leaders = all.filter { $0.key.hasPrefix(queue("requests.")) }.values
        #expect(leaders.count == shards && Set(leaders).count > 1, "\(all)")
    }

    /// Returns the index of the node that leads the results queue.
    fileprivate func leaderOfResults(_ cluster: PrivateCluster) async throws -> Int {
        let leader = try #require(try await cluster.leaders()[queue("results")])
        return try #require(cluster.nodes.firstIndex { $0.nodeName == leader })
    }

    /// Publishes requests until the task is canceled, and repeats each request until the broker confirms it.
    ///
    /// - Returns: All published requests, and the IDs of those that were published more than once.
    fileprivate func publishSteadily(
        from first: Int, perSecond rate: Int
    ) async throws -> (samples: [Sample], repeated: Set<String>) {
        let batch = max(1, rate / 10)
        var (samples, repeated) = ([Sample](), Set<String>())
        while !Task.isCancelled {
            let next = Sample.make(batch, from: first + samples.count)
            samples += next
            let unconfirmed = await withTaskGroup(of: String?.self) { group in
                for sample in next {
                    group.addTask { [testClient, prefix] in
                        var attempts = 0
                        repeat {
                            attempts += 1
                        } while await testClient.publish(sample.message(to: prefix)) != .confirmed
                        return attempts > 1 ? sample.id : nil
                    }
                }
                return await group.reduce(into: Set<String>()) { if let id = $1 { $0.insert(id) } }
            }
            repeated.formUnion(unconfirmed)
            await testClient.sleep(for: .milliseconds(100))
        }
        return (samples, repeated)
    }
}

extension PrivateCluster {
    /// Returns the name of the leading node by queue name.
    fileprivate func leaders() async throws -> [String: String] {
        let lines = try await nodes[0].rabbitmqctl("list_queues", "name", "leader")
        return lines.reduce(into: [:]) { leaders, line in
            let words = line.split(separator: "\t").map(String.init)
            if words.count == 2 { leaders[words[0]] = words[1] }
        }
    }

    /// Waits until all nodes run and are connected to each other.
    fileprivate func untilWhole() async throws {
        for node in nodes { try await node.untilSeeing(nodes.count) }
    }
}

extension PrivateBroker {
    /// Waits until this node sees `count` running nodes, including itself.
    fileprivate func untilSeeing(_ count: Int) async throws {
        try await poll(until: "\(nodeName) sees \(count) nodes") {
            let seen = try? await rabbitmqctl("eval", "length(rabbit_mnesia:cluster_nodes(running)).")
            return seen?.first == "\(count)"
        }
    }
}
