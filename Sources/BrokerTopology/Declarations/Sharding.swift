extension Topology {
    /// The bindings that lead requests to a request queue or its shards, and the steps to change them while requests
    /// arrive.
    ///
    /// Each request that is published during the ``steps`` reaches exactly one queue, regardless of the earlier
    /// bindings. A broker puts a message into a queue only once, even if several bindings match
    /// (https://www.rabbitmq.com/docs/e2e). A consistent-hash exchange passes a message to one of its destinations.
    public struct Sharding: Sendable, Equatable {
        /// The request queue.
        public let queue: String
        /// The shards; empty if the queue is not divided.
        public let shards: [String]
        /// The exchange that leads to the shards.
        public let exchange: String
        /// The routing key of the binding to the exchange of requests.
        public let routingKey: String
        private let requestsExchange: String
        /// Shards that other configurations may have.
        private let otherShards: [String]

        public enum Step: Sendable, Equatable {
            case bind(Binding)
            /// The removal of a binding. The queue of the binding may be missing.
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

        /// The bindings after the last step.
        public var bindings: [Binding] {
            isSharded ? exchangeBindings.prefix(1) + shards.map(inRing) : Array(queueBindings.prefix(1))
        }

        /// Bindings that must not exist beside ``bindings``, because a request would then reach two queues or a wrong
        /// queue.
        public var formerBindings: [Binding] {
            isSharded
                ? queueBindings + [inRing(queue)] + otherShards.map(inRing) : exchangeBindings
        }

        /// The steps from any earlier bindings to ``bindings``. If only ``bindings`` exist already, the steps have no
        /// lasting effect.
        public var steps: [Step] {
            let others = otherShards.map { Step.unbind(inRing($0)) }
            // Bind the queue to the exchange of its shards before the queue or a shard loses another binding.
            let begin = [Step.bind(inRing(queue))]
            guard isSharded else {
                return begin + others + queueBindings.prefix(1).map { .bind($0) } + exchangeBindings.map { .unbind($0) }
                    + [.unbind(inRing(queue))]
            }
            return begin + exchangeBindings.prefix(1).map { .bind($0) } + queueBindings.map { .unbind($0) }
                + exchangeBindings.dropFirst().map { .unbind($0) } + shards.map { .bind(inRing($0)) } + others
                + [.unbind(inRing(queue))]
        }

        /// Returns whether ``bindings`` exist and none of ``formerBindings`` does.
        ///
        /// - Parameter existing: all bindings of the exchanges at the broker.
        public func isDone(_ existing: [Binding]) -> Bool {
            bindings.allSatisfy { existing.contains($0) } && !formerBindings.contains { existing.contains($0) }
        }

        /// The binding that exists only during the steps.
        public var temporaryBinding: Binding { inRing(queue) }

        /// The current routing key, then the key of a single request queue if that key differs.
        private var keys: [String] { routingKey == Topology.everyKey ? [routingKey] : [routingKey, Topology.everyKey] }

        private var queueBindings: [Binding] {
            keys.map { Binding(queue: queue, exchange: requestsExchange, routingKey: $0) }
        }

        private var exchangeBindings: [Binding] {
            keys.map {
                Binding(destination: exchange, kind: .exchange, exchange: requestsExchange, routingKey: $0)
            }
        }

        /// Returns the binding of a queue to the consistent-hash exchange. The binding key of such an exchange is a
        /// weight: the queue's number of buckets in the hash ring.
        private func inRing(_ queue: String) -> Binding {
            Binding(queue: queue, exchange: exchange, routingKey: "1")
        }
    }

    /// Returns one exchange for each divided queue. The exchange hashes the message ID, so requests with the same
    /// message ID reach the same shard.
    static func shardsExchanges(_ names: TopologyNames) -> [Exchange] {
        names.requestQueues.filter { names.shardCounts[$0] != nil }.map { queue in
            Exchange(
                name: names.shardsExchange(of: queue), kind: .consistentHash,
                arguments: [.text("hash-property", "message_id")])
        }
    }
}
