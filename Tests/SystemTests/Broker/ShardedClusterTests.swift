import AMQP
import Glibc
import TestKit
import Testing

extension SystemTests {
    /// Four shards on a cluster of three nodes, two workers, and what may happen to a node or a worker: every message is
    /// told, and none is lost. All tests have one cluster. Run by `deploy/trial/cluster`, since it takes minutes.
    @Suite(.serialized, .enabled(if: LongForm.isOn || Glibc.getenv("MARTLET_CLUSTER") != nil)) struct ShardedCluster {
        private static let nodes = Task {
            try await PrivateCluster(
                settings: ["net_ticktime = 8"], firstGroup: PartedNetwork.isThere ? PartedNetwork.firstGroup : nil)
        }
        private static let shards = 4
        private static let workers = 2
        private static let rounds = LongForm.pick(3, short: 1)
        private static let requests = LongForm.pick(30_000, short: 3000)
        /// While the trouble lasts; those before it are in the queues when the workers begin.
        private static let requestsPerSecond = LongForm.pick(200, short: 100)
        private static let kills = LongForm.pick(10, short: 4)
        private static let frozenSeconds = 30
        private static let partedSeconds = LongForm.pick(30, short: 3)

        @Test func nodesThatAreKilledOneAfterTheOther() async throws {
            try await Self.underLoad("nodes") { fixture, cluster, _ in
                // Once nodes were away, the broker puts what is new where it has the fewest leaders of all queues.
                try await fixture.expectSpread(Self.shards, cluster)
                for round in 0..<Self.rounds {
                    for node in cluster.nodes {
                        try await node.kill()
                        let goesOn = await fixture.areMoreTold(round == 0 ? 100 : 500)
                        #expect(goesOn, "stood still while \(node.nodeName) was away")
                        try await node.start()
                    }
                }
            }
        }

        /// Those who are connected to the node do not see at once that it is on its own: neither workers that have told
        /// results through the node that leads them, nor such as tell their first when it is cut off.
        @Test(.enabled(if: PartedNetwork.isThere), arguments: [("parted", nil), ("parted-first", 6)])
        func aPartitionThatHeals(_ prefix: String, firstAnswersSeconds: Int?) async throws {
            let network = try await PartedNetwork(Self.nodes.value)
            try await Self.underLoad(prefix, firstAnswersSeconds: firstAnswersSeconds) { fixture, cluster, _ in
                // Of whom all results wait for, first.
                let first = try await fixture.leaderOfResults(cluster)
                for round in 0..<Self.rounds {
                    let node = (first + round) % cluster.nodes.count
                    try await network.part(node)
                    if round == 0, firstAnswersSeconds != nil {
                        #expect(await fixture.testClient.collected(fixture.queue("results")).isEmpty)
                        try await fixture.apns.ask("DELETE", "/v1/faults/first")
                    }
                    try await cluster.nodes[(node + 1) % cluster.nodes.count].untilSeeing(cluster.nodes.count - 1)
                    await fixture.testClient.pass(.seconds(Self.partedSeconds))
                    let goesOn = await fixture.areMoreTold(100)
                    #expect(goesOn, "stood still while \(cluster.nodes[node].nodeName) was cut off")
                    try await network.heal(node)
                    try await cluster.untilWhole()
                }
            }
        }

        /// Longer than nodes wait for a sign of each other.
        @Test(.enabled(if: LongForm.isOn)) func aNodeThatFreezes() async throws {
            try await Self.underLoad("cold") { fixture, cluster, _ in
                for node in cluster.nodes {
                    await node.pause()
                    await fixture.testClient.pass(.seconds(Self.frozenSeconds))
                    _ = await fixture.areMoreTold(100)
                    await node.resume()
                    try await cluster.untilWhole()
                }
            }
        }

        /// For each that is killed another comes, and one more in the end: every one takes from all shards.
        @Test func workersThatAreKilledAndAdded() async throws {
            try await Self.underLoad("workers") { fixture, _, running in
                for _ in 0..<Self.kills {
                    running.removeFirst().send(signal: SIGKILL)
                    running.append(try await fixture.worker())
                    let goesOn = await fixture.areMoreTold(200)
                    #expect(goesOn)
                }
                running.append(try await fixture.worker())
                let goesOn = await fixture.areMoreTold(200)
                #expect(goesOn)
            }
        }

        /// - Parameter firstAnswersSeconds: how long answers take until the trouble ends that.
        private static func underLoad(
            _ prefix: String, firstAnswersSeconds: Int? = nil,
            _ makeTrouble: (SystemFixture, PrivateCluster, _ workers: inout [ChildProcess]) async throws -> Void
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
                try await fixture.apns.ask(
                    "POST", "/v1/faults",
                    #"{"id":"first","action":{"latency":{"constant_ms":\#(firstAnswersSeconds * 1000)}}}"#)
            }
            var running: [ChildProcess] = []
            for _ in 0..<workers { running.append(try await fixture.worker()) }
            let publishing = Task { [waiting] in
                try await fixture.publishSteadily(from: waiting.count, perSecond: requestsPerSecond)
            }
            do {
                try await makeTrouble(fixture, cluster, &running)
            } catch {
                publishing.cancel()
                for worker in running { print(worker.errors.linesSoFar.suffix(8).joined(separator: "\n")) }
                for node in cluster.nodes {
                    let seen = try? await node.rabbitmqctl(
                        "list_queues", "name", "leader", "online", "messages", "consumers")
                    print(node.nodeName, (seen ?? ["is away"]).joined(separator: "\n"))
                }
                throw error
            }
            publishing.cancel()
            let (coming, often) = try await publishing.value

            let samples = waiting + coming
            _ = try await fixture.told(of: samples, within: .seconds(LongForm.pick(600, short: 90)))
            for worker in running { _ = try await worker.stop() }
            let results = try await fixture.allResults()
            let odd = results.odd(samples) { told in told.allSatisfy { $0.outcome == "accepted" } }
            #expect(odd.isEmpty, "\(odd.prefix(3).map { results[$0] })")
            try await fixture.expectNothingLeft()
            for shard in 0..<shards {
                #expect(try await fixture.testClient.takeAll(from: fixture.queue("requests.\(shard)")).isEmpty)
            }

            let pushes = try Pushes(await fixture.end())
            #expect(samples.filter { pushes.taken($0) == 0 }.map(\.id) == [], "none is lost")
            let twice = samples.filter { pushes.taken($0) > 1 }
            // Nobody can know it of what was published again for want of a confirm.
            let silently = twice.filter { sample in
                !often.contains(sample.id) && !results[sample].contains { $0.isPossibleDuplicate }
            }
            #expect(silently.map(\.id) == [])
            print(
                "\(prefix): \(twice.count) of \(samples.count) pushed twice, of them "
                    + "\(twice.count { often.contains($0.id) }) published twice for want of a confirm")
        }
    }
}

extension SystemFixture {
    /// Waits until so many more have been told than by now; whether they have within what it takes to notice that all is
    /// refused on a channel, and to open another.
    fileprivate func areMoreTold(_ count: Int) async -> Bool {
        let clock = ContinuousClock()
        let start = clock.now
        let told = await testClient.collected(queue("results")).count
        let all = try? await testClient.collected(queue("results"), atLeast: told + count, within: .seconds(45))
        print("\(prefix): \(clock.now - start) until more were told")
        return all != nil
    }

    /// Checks that the leaders of shards are on more nodes than one.
    fileprivate func expectSpread(_ shards: Int, _ cluster: PrivateCluster) async throws {
        let all = try await cluster.leaders()
        let leaders = all.filter { $0.key.hasPrefix(queue("requests.")) }.values
        #expect(leaders.count == shards && Set(leaders).count > 1, "\(all)")
    }

    /// The node that leads the queue of results.
    fileprivate func leaderOfResults(_ cluster: PrivateCluster) async throws -> Int {
        let leader = try #require(try await cluster.leaders()[queue("results")])
        return try #require(cluster.nodes.firstIndex { $0.nodeName == leader })
    }

    /// Publishes until the task is cancelled, each until the broker has confirmed it.
    ///
    /// - Returns: all that were published, and the ids of those for which that took more than once.
    fileprivate func publishSteadily(
        from first: Int, perSecond rate: Int
    ) async throws -> (samples: [Sample], often: Set<String>) {
        let batch = max(1, rate / 10)
        var (samples, often) = ([Sample](), Set<String>())
        while !Task.isCancelled {
            let next = Sample.make(batch, from: first + samples.count)
            samples += next
            let unsure = await withTaskGroup(of: String?.self) { group in
                for sample in next {
                    group.addTask { [testClient, prefix] in
                        var tries = 0
                        repeat { tries += 1 } while await testClient.publish(sample.message(to: prefix)) != .confirmed
                        return tries > 1 ? sample.id : nil
                    }
                }
                return await group.reduce(into: Set<String>()) { if let id = $1 { $0.insert(id) } }
            }
            often.formUnion(unsure)
            await testClient.pass(.milliseconds(100))
        }
        return (samples, often)
    }
}

extension PrivateCluster {
    /// The node that leads each queue.
    fileprivate func leaders() async throws -> [String: String] {
        let lines = try await nodes[0].rabbitmqctl("list_queues", "name", "leader")
        return lines.reduce(into: [:]) { leaders, line in
            let words = line.split(separator: "\t").map(String.init)
            if words.count == 2 { leaders[words[0]] = words[1] }
        }
    }

    /// Waits until all nodes run, and see each other.
    fileprivate func untilWhole() async throws {
        for node in nodes { try await node.untilSeeing(nodes.count) }
    }
}

extension PrivateBroker {
    /// Waits until so many nodes run as far as this one sees, itself included.
    fileprivate func untilSeeing(_ count: Int) async throws {
        try await poll(until: "\(nodeName) sees \(count) nodes") {
            let seen = try? await rabbitmqctl("eval", "length(rabbit_mnesia:cluster_nodes(running)).")
            return seen?.first == "\(count)"
        }
    }
}
