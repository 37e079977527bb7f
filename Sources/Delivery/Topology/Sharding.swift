extension Topology {
    /// How requests come to one queue of them, or to its shards, and how that is changed while they come.
    ///
    /// Whatever was there before, each request that is published while the ``steps`` are taken reaches exactly one queue:
    /// a broker puts a message into a queue once, by however many ways it leads there
    /// (https://www.rabbitmq.com/docs/e2e), and a consistent-hash exchange hands it to one of what is bound.
    public struct Sharding: Sendable, Equatable {
        /// The queue of requests.
        public let queue: String
        /// Its shards; none where it is not divided.
        public let shards: [String]
        /// What leads to the shards.
        public let exchange: String
        /// In the exchange of requests.
        public let routingKey: String
        private let requestsExchange: String
        /// Shards that other configurations may have.
        private let otherShards: [String]

        public enum Step: Sendable, Equatable {
            case bind(Binding)
            /// The queue need not be there.
            case unbind(Binding)
        }

        init(of queue: String, names: TopologyNames, routingKey: String) {
            self.queue = queue
            self.routingKey = routingKey
            shards = names.shards(of: queue)
            exchange = names.shardsExchange(of: queue)
            requestsExchange = names.requestsExchange
            otherShards = (shards.count..<TopologyNames.shardsMax).map { names.shard($0, of: queue) }
        }

        public var isSharded: Bool { !shards.isEmpty }

        /// What there is once all is done.
        public var bindings: [Binding] {
            isSharded ? exchangeBindings.prefix(1) + shards.map(inRing) : Array(queueBindings.prefix(1))
        }

        /// What cannot be beside these: a request would reach two queues.
        public var formerBindings: [Binding] {
            isSharded
                ? queueBindings + [inRing(queue)] + otherShards.map(inRing) : exchangeBindings
        }

        /// From what there is to what there shall be; where it is there already, they change nothing for long.
        public var steps: [Step] {
            let others = otherShards.map { Step.unbind(inRing($0)) }
            // The queue takes its own place behind the exchange of shards, before it leaves the other, or the shards do.
            let begin = [Step.bind(inRing(queue))]
            guard isSharded else {
                return begin + others + queueBindings.prefix(1).map { .bind($0) } + exchangeBindings.map { .unbind($0) }
                    + [.unbind(inRing(queue))]
            }
            return begin + exchangeBindings.prefix(1).map { .bind($0) } + queueBindings.map { .unbind($0) }
                + exchangeBindings.dropFirst().map { .unbind($0) } + shards.map { .bind(inRing($0)) } + others
                + [.unbind(inRing(queue))]
        }

        /// Whether there is nothing to be done.
        public func isDone(_ there: [Binding]) -> Bool {
            bindings.allSatisfy { there.contains($0) } && !formerBindings.contains { there.contains($0) }
        }

        /// What is there only while the steps are taken.
        public var passing: Binding { inRing(queue) }

        /// By the key in force, then by that of a queue which is alone.
        private var keys: [String] { routingKey == Topology.everyKey ? [routingKey] : [routingKey, Topology.everyKey] }

        private var queueBindings: [Binding] {
            keys.map { Binding(queue: queue, exchange: requestsExchange, routingKey: $0) }
        }

        private var exchangeBindings: [Binding] {
            keys.map {
                Binding(destination: exchange, kind: .exchange, exchange: requestsExchange, routingKey: $0)
            }
        }

        /// There a binding key is a weight, a whole number: how many places in the ring, and so what part of the messages.
        private func inRing(_ queue: String) -> Binding {
            Binding(queue: queue, exchange: exchange, routingKey: "1")
        }
    }

    /// One for each queue that is divided. By the id, so that copies of a request meet in one shard.
    static func shardsExchanges(_ names: TopologyNames) -> [Exchange] {
        names.requestQueues.filter { names.shardCounts[$0] != nil }.map { queue in
            Exchange(
                name: names.shardsExchange(of: queue), kind: .consistentHash,
                arguments: [.text("hash-property", "message_id")])
        }
    }

    /// All shards are declared over one connection: without this their leaders would all be on its node.
    static let spread: [Argument] = [.text("x-queue-leader-locator", "balanced")]
}
