/// The exchanges, queues and bindings at the broker that producers, workers and consumers of results share.
///
/// A description only: it connects to nothing. `martlet topology apply` declares it, the lane publishes to its names.
/// Only what is structural stands in arguments (queue type, time to live, where dead letters go), because arguments
/// cannot be changed without deleting the queue, and the bounds of results that nobody takes, because a topology that is
/// applied over AMQP has nothing else (decision 15); limits of delivery belong into the broker's ``policies(of:)``.
public struct Topology: Sendable, Equatable {
    public let names: TopologyNames
    public let waits: [WaitDelay]
    public let results: ResultsRetention
    public let exchanges: [Exchange]
    public let queues: [Queue]
    public let bindings: [Binding]
    /// Bindings that other configurations make and this one cannot have: of a single queue of requests where there are
    /// several, by which a request would reach two queues and be pushed twice, and of a queue of results that is to take
    /// no more. And one of earlier versions, by which what expired would become a dead letter as well.
    public let formerBindings: [Binding]
    /// How requests come to each queue of them, or to its shards.
    public let shardings: [Sharding]

    public struct Exchange: Sendable, Hashable {
        public enum Kind: String, Sendable {
            case direct, topic, fanout, headers
            /// Of a plugin of RabbitMQ's: one of what is bound gets the message.
            case consistentHash = "x-consistent-hash"
        }
        public let name: String
        public let kind: Kind
        public let arguments: [Argument]
    }

    /// Every queue is durable and a quorum queue, on one node as well as on many.
    public struct Queue: Sendable, Hashable {
        public let name: String
        public let arguments: [Argument]
    }

    /// From an exchange to a queue, or to another exchange.
    public struct Binding: Sendable, Hashable {
        public enum DestinationKind: String, Sendable { case queue, exchange }
        public let destination: String
        public let kind: DestinationKind
        public let exchange: String
        public let routingKey: String
        /// What a headers exchange compares, by name.
        public let arguments: [Argument]

        public init(queue: String, exchange: String, routingKey: String, arguments: [Argument] = []) {
            self.init(
                destination: queue, kind: .queue, exchange: exchange, routingKey: routingKey, arguments: arguments)
        }

        public init(
            destination: String, kind: DestinationKind, exchange: String, routingKey: String, arguments: [Argument] = []
        ) {
            self.destination = destination
            self.kind = kind
            self.exchange = exchange
            self.routingKey = routingKey
            self.arguments = arguments.sorted { $0.name < $1.name }
        }

        /// nil: it leads to an exchange.
        public var queue: String? { kind == .queue ? destination : nil }
    }

    /// An `x-…` argument of a declaration, in the order in which it is sent.
    public struct Argument: Sendable, Hashable {
        public enum Value: Sendable, Hashable {
            case text(String)
            case integer(Int64)
            case boolean(Bool)
        }
        public let name: String
        public let value: Value

        public static func text(_ name: String, _ value: String) -> Argument {
            Argument(name: name, value: .text(value))
        }
        static func integer(_ name: String, _ value: Int64) -> Argument { Argument(name: name, value: .integer(value)) }
        static func boolean(_ name: String, _ value: Bool) -> Argument { Argument(name: name, value: .boolean(value)) }
    }

    /// - Parameters:
    ///   - waits: delays after which messages come back.
    ///   - results: what is kept of results that nobody takes.
    ///   - takesChannelCommands: whether there is a queue for them.
    ///   - routingKeys: of request queues, by name; the last word of its name where a queue has none. A single queue gets
    ///     every request, whatever the key.
    public init(
        names: TopologyNames = TopologyNames(), waits: [WaitDelay] = WaitDelay.defaults,
        results: ResultsRetention = ResultsRetention(), takesChannelCommands: Bool = false,
        routingKeys: [String: String] = [:]
    ) {
        self.names = names
        self.waits = waits
        self.results = results
        let waitQueues = waits.flatMap { delay in
            (0..<WaitDelay.siblings).map { sibling in
                (name: names.waitQueue(delay, sibling: sibling), milliseconds: delay.milliseconds(sibling: sibling))
            }
        }
        let incoming = [
            Exchange(name: names.unroutedExchange, kind: .fanout, arguments: []),
            Exchange(name: names.requestsExchange, kind: .topic, arguments: []),
        ]
        exchanges =
            incoming + Self.shardsExchanges(names)
            + [
                // A result that no queue is bound for must not hold up the acknowledgement of its request.
                Exchange(
                    name: names.resultsExchange, kind: .topic,
                    arguments: [.text("alternate-exchange", names.unroutedExchange)]),
                Exchange(name: names.deadExchange, kind: .topic, arguments: []),
                Exchange(name: names.otherDeadLettersExchange, kind: .fanout, arguments: []),
                Exchange(
                    name: names.deadLetterSortExchange, kind: .headers,
                    arguments: [.text("alternate-exchange", names.otherDeadLettersExchange)]),
                Exchange(name: names.brokerDeadLettersExchange, kind: .fanout, arguments: []),
                // Not the default exchange, so that workers need no permission beyond their prefix.
                Exchange(name: names.quarantineQueue, kind: .fanout, arguments: []),
            ] + waitQueues.map { Exchange(name: $0.name, kind: .fanout, arguments: []) }
        let deadLettered = Self.quorum + Self.deadLettersTo(exchange: names.brokerDeadLettersExchange)
        let bounded = Self.quorum + Self.bounds(results)
        let resultsQueues = results.hasQueue ? [Queue(name: names.resultsQueue, arguments: bounded)] : []
        let requestQueues = names.requestQueues.flatMap { queue in
            [Queue(name: queue, arguments: deadLettered)]
                + names.shards(of: queue).map { Queue(name: $0, arguments: deadLettered + Self.spread) }
        }
        queues =
            requestQueues
            + [
                // One worker at a time, one message at a time: what kills workers kills no neighbour there.
                Queue(
                    name: names.quarantineQueue, arguments: deadLettered + [.boolean("x-single-active-consumer", true)])
            ] + resultsQueues
            + (takesChannelCommands ? [Queue(name: names.channelsQueue, arguments: deadLettered)] : [])
            + [
                Queue(
                    name: names.expiredQueue,
                    arguments: Self.quorum + Self.deadLettersTo(exchange: names.otherDeadLettersExchange)),
                Queue(name: names.deadQueue, arguments: Self.quorum),
                Queue(name: names.unroutedQueue, arguments: bounded),
            ]
            + waitQueues.map { queue in
                // Without a dead-letter routing key of its own a message keeps the one that it was published with, which
                // is the name of the queue that it came from.
                Queue(
                    name: queue.name,
                    arguments: Self.quorum + [.integer("x-message-ttl", queue.milliseconds)]
                        + Self.deadLettersTo(exchange: ""))
            }
        let shardings = names.requestQueues.map { queue in
            Sharding(
                of: queue, names: names,
                routingKey: names.requestQueues.count == 1
                    ? Self.everyKey : routingKeys[queue] ?? Self.lastWord(of: queue))
        }
        self.shardings = shardings
        let requests = shardings.flatMap(\.bindings)
        let former = Set(names.requestQueues + TopologyNames(prefix: names.prefix).requestQueues).sorted().map {
            Binding(queue: $0, exchange: names.requestsExchange, routingKey: Self.everyKey)
        }
        let formerRequests = names.requestQueues.count == 1 ? [] : former.filter { !requests.contains($0) }
        let everyResult = [
            Binding(queue: names.resultsQueue, exchange: names.resultsExchange, routingKey: "result.#")
        ]
        let formerOfSharded = shardings.filter(\.isSharded).flatMap(\.formerBindings)
        formerBindings =
            formerRequests.filter { !formerOfSharded.contains($0) } + formerOfSharded
            + (results.hasQueue ? [] : everyResult)
            + [Binding(queue: names.deadQueue, exchange: names.brokerDeadLettersExchange, routingKey: "")]
        let quarantine = Binding(queue: names.quarantineQueue, exchange: names.quarantineQueue, routingKey: "")
        bindings =
            requests + [quarantine] + (results.hasQueue ? everyResult : [])
            + [
                Binding(queue: names.deadQueue, exchange: names.deadExchange, routingKey: "dead.#"),
                Binding(queue: names.deadQueue, exchange: names.otherDeadLettersExchange, routingKey: ""),
                // `x-first-death-reason`, since a headers exchange cannot look into `x-death`. A request that waited has
                // it from its wait queue: workers judge by `x-death`.
                Binding(
                    queue: names.expiredQueue, exchange: names.deadLetterSortExchange, routingKey: "",
                    arguments: [.text("x-match", "all-with-x"), .text("x-first-death-reason", "expired")]),
                Binding(
                    destination: names.deadLetterSortExchange, kind: .exchange,
                    exchange: names.brokerDeadLettersExchange, routingKey: ""),
                Binding(queue: names.unroutedQueue, exchange: names.unroutedExchange, routingKey: ""),
            ] + waitQueues.map { Binding(queue: $0.name, exchange: $0.name, routingKey: "") }
    }

    /// Names of the queues in which requests wait, in the order of their delays.
    public var waitQueues: [String] {
        waits.flatMap { delay in (0..<WaitDelay.siblings).map { names.waitQueue(delay, sibling: $0) } }
    }

    /// Whether there is a queue for them.
    public var takesChannelCommands: Bool { queues.contains { $0.name == names.channelsQueue } }

    static let everyKey = "#"

    /// `bulk` of `push.requests.bulk`: the routing key of a request queue that is given no other.
    public static func lastWord(of queue: String) -> String {
        queue.split(separator: ".").last.map { String($0) } ?? queue
    }

    private static let quorum: [Argument] = [.text("x-queue-type", "quorum")]

    /// The oldest go first: dropping the head is what a quorum queue does of itself.
    private static func bounds(_ results: ResultsRetention) -> [Argument] {
        [
            .integer("x-message-ttl", Int64(results.ageSecondsMax) * 1000),
            .integer("x-max-length", Int64(results.lengthMax)),
        ]
    }

    /// RabbitMQ hands a dead letter on with confirmation only when all three are set; with another overflow it silently
    /// falls back to losing it when the target is away (https://www.rabbitmq.com/docs/quorum-queues#dead-lettering).
    private static func deadLettersTo(exchange: String) -> [Argument] {
        [
            .text("x-dead-letter-exchange", exchange), .text("x-dead-letter-strategy", "at-least-once"),
            .text("x-overflow", "reject-publish"),
        ]
    }
}
