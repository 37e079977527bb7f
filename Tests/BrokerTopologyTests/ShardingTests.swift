import BrokerTopology
import Testing

/// Divided request queues, and the steps of a change while requests arrive.
@Suite struct ShardingTests {
    private static func topology(_ shards: Int, key: String? = nil) -> Topology {
        let others = key == nil ? [] : ["push.requests.urgent"]
        return Topology(
            names: TopologyNames(requestQueues: ["push.requests"] + others, shards: ["push.requests": shards]),
            waits: [WaitDelay(seconds: 30)], routingKeys: key.map { ["push.requests": $0] } ?? [:])
    }

    @Test func oneShardMeansUndivided() {
        #expect(Self.topology(1) == Topology(waits: [WaitDelay(seconds: 30)]))
        #expect(TopologyNames(shards: ["push.requests": 1]).requestQueuesAndShards == ["push.requests"])
    }

    @Test func eachShardIsAQueueBehindAnExchangeThatHashesByTheID() throws {
        let topology = Self.topology(3)
        let added = Set(topology.queues.map(\.name)).subtracting(Self.topology(1).queues.map(\.name))
        #expect(added == ["push.requests.0", "push.requests.1", "push.requests.2"])
        #expect(topology.names.requestQueuesAndShards == ["push.requests"] + added.sorted())
        let whole = try #require(topology.queues.first { $0.name == "push.requests" })
        for queue in topology.queues where added.contains(queue.name) {
            #expect(queue.arguments.starts(with: whole.arguments))
            #expect(
                queue.arguments.dropFirst(whole.arguments.count).map { "\($0.name)=\($0.value)" } == [
                    #"x-queue-leader-locator=text("balanced")"#
                ])
        }
        let exchange = try #require(topology.exchanges.first { $0.kind == .consistentHash })
        #expect(exchange.name == "push.requests.shards")
        #expect(exchange.arguments.map { "\($0.name)=\($0.value)" } == [#"hash-property=text("message_id")"#])
        #expect(
            topology.bindings.prefix(4).map { "\($0.exchange) \($0.kind) \($0.destination) \($0.routingKey)" } == [
                "push.requests exchange push.requests.shards #", "push.requests.shards queue push.requests.0 1",
                "push.requests.shards queue push.requests.1 1", "push.requests.shards queue push.requests.2 1",
            ])
        #expect(!topology.bindings.contains { $0.queue == "push.requests" })
        #expect(Self.topology(3, key: "a.#").bindings.first?.routingKey == "a.#")
    }

    @Test func aPolicyMatchesAnyNumberOfShards() throws {
        let policy = try #require(Self.topology(3).policies(of: BrokerVersion(4, 0)).first)
        #expect(policy.pattern == #"^(push\.requests(\.[0-9]+)?|push\.quarantine|push\.expired|push\.dead)$"#)
        #expect(Self.topology(3).unlimitedQueues.contains("push.requests.2"))
    }

    /// A model of a broker's routing from the exchange of requests to queues, or through the hash ring to shards.
    private struct Router {
        var bindings: [Topology.Binding] = []

        /// Returns the queues to which a request is routed. A broker puts a message into a queue only once.
        func queues(key: String, hash: Int) -> Set<String> {
            Set(
                bindings.filter { $0.exchange == "push.requests" && BindingKey.overlap($0.routingKey, key) }.flatMap {
                    binding in
                    guard binding.kind == .exchange else { return [binding.destination] }
                    let ring = bindings.filter { $0.exchange == binding.destination }
                    return ring.isEmpty ? [] : [ring[hash % ring.count].destination]
                })
        }

        mutating func apply(_ step: Topology.Sharding.Step) {
            switch step {
            case .bind(let binding): if !bindings.contains(binding) { bindings.append(binding) }
            case .unbind(let binding): bindings.removeAll { $0 == binding }
            }
        }
    }

    @Test(arguments: [(1, 4), (4, 1), (4, 2), (2, 5), (3, 3), (64, 1), (1, 64)], [nil, "bulk"])
    func eachRequestReachesExactlyOneQueueAtEveryStep(numbers: (before: Int, after: Int), key: String?) {
        let (before, after) = (Self.topology(numbers.before, key: key), Self.topology(numbers.after, key: key))
        var router = Router(bindings: before.shardings[0].bindings)
        let hashes = 0..<60 * 61
        for step in after.shardings[0].steps {
            router.apply(step)
            let counts = Set(
                stride(from: 0, to: hashes.upperBound, by: 7).map { hash in
                    router.queues(key: key ?? "any", hash: hash).count
                })
            #expect(counts == [1], "after \(step)")
        }
        #expect(Set(router.bindings) == Set(after.shardings[0].bindings))
        #expect(after.shardings[0].isDone(router.bindings))
        #expect(after.shardings[0].isDone(before.shardings[0].bindings) == (numbers.before == numbers.after))
    }

    // An interrupted declaration can leave each of these states.
    @Test func interruptedStepsCanBeRepeated() {
        for (from, to) in [(1, 3), (3, 1)] {
            let steps = Self.topology(to).shardings[0].steps
            for taken in steps.indices {
                var router = Router(bindings: Self.topology(from).shardings[0].bindings)
                for step in steps[..<taken] + steps {
                    router.apply(step)
                    for hash in 0..<12 { #expect(router.queues(key: "any", hash: hash).count == 1) }
                }
                #expect(Set(router.bindings) == Set(Self.topology(to).bindings.filter(router.bindings.contains)))
            }
        }
    }
}
