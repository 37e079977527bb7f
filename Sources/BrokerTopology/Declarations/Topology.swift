/// The exchanges, queues and bindings at the broker that producers, workers and consumers of results share.
///
/// `martlet topology apply` declares the topology at the broker.
///
/// The arguments of an existing queue cannot be changed. The arguments therefore contain only structure, such as queue
/// type, time to live and target of dead letters. The bounds of result queues and streams are exceptions, because AMQP
/// cannot set policies (decision 15). For delivery limits, see ``queues(at:)`` and ``policies(of:)``.
public struct Topology: Sendable, Equatable {
    public let names: TopologyNames
    public let waits: [WaitDelay]
    public let results: ResultsRetention
    public let fixedQueues: [FixedQueue]
    public let exchanges: [Exchange]
    public let queues: [Queue]
    public let bindings: [Binding]
    /// Bindings of other configurations or earlier versions that this configuration cannot have:
    ///
    /// - The binding of a single request queue, if this configuration has several request queues. With this binding,
    ///   a request would reach two queues.
    /// - The ``Sharding/formerBindings`` of divided request queues.
    /// - The binding of a result queue that the configuration disables.
    /// - The binding that caused each expired request to become a dead letter, too.
    public let formerBindings: [Binding]
    /// For each request queue, the bindings that lead requests to it or to its shards.
    public let shardings: [Sharding]

    /// Creates the topology of a configuration.
    ///
    /// - Parameters:
    ///   - waits: delays after which requests return.
    ///   - results: the retention of results that no consumer receives.
    ///   - hasChannelCommands: whether a queue for channel commands exists.
    ///   - hasRegistrations: whether an exchange and a queue for commands about device registrations exist.
    ///   - hasFleetControl: whether the exchanges and streams of fleet control exist.
    ///   - hasJournal: whether the stream of the journal exists. Requires fleet control.
    ///   - routingKeys: routing keys by request queue. Default: the last word of the queue's name. A single queue
    ///     receives every request regardless of the key.
    public init(
        names: TopologyNames = TopologyNames(), waits: [WaitDelay] = WaitDelay.defaults,
        results: ResultsRetention = ResultsRetention(), hasChannelCommands: Bool = false,
        hasRegistrations: Bool = false, hasFleetControl: Bool = false, hasJournal: Bool = false,
        routingKeys: [String: String] = [:]
    ) {
        precondition(hasFleetControl || !hasJournal, "a journal without fleet control")
        self.names = names
        self.waits = waits
        self.results = results
        let optional =
            (results.hasQueue ? [FixedQueue.results] : []) + (hasChannelCommands ? [.channels] : [])
            + (hasRegistrations ? [.registrations] : []) + (hasFleetControl ? [.pauses, .fleetCommands] : [])
            + (hasJournal ? [.journal] : [])
        fixedQueues = FixedQueue.allCases.filter { !$0.isOptional || optional.contains($0) }
        let waitQueues = Self.waitQueues(names, waits)
        exchanges =
            Self.exchanges(names) + (hasRegistrations ? [Self.registrationsExchange(names)] : [])
            + (hasFleetControl ? Self.fleetExchanges(names) : [])
            + waitQueues.map { Exchange(name: $0.name, kind: .fanout, arguments: []) }
        queues =
            Self.requestQueues(names)
            + fixedQueues.map { Queue(name: names.name(of: $0), arguments: $0.arguments(names, results)) } + waitQueues
        shardings = names.requestQueues.map { queue in
            Sharding(
                of: queue, names: names,
                routingKey: names.requestQueues.count == 1
                    ? Self.everyKey : routingKeys[queue] ?? Self.lastWord(of: queue))
        }
        bindings =
            shardings.flatMap(\.bindings) + Self.bindings(names, results)
            + (hasRegistrations ? [Self.everyRegistration(names)] : [])
            + (hasFleetControl ? Self.fleetBindings(names, hasJournal: hasJournal) : [])
            + waitQueues.map { Binding(queue: $0.name, exchange: $0.name, routingKey: "") }
        formerBindings = Self.formerBindings(names, results, shardings)
    }

    /// Names of the wait queues, in the order of ``waits``.
    public var waitQueues: [String] { Self.waitQueues(names, waits).map(\.name) }

    static let everyKey = "#"

    /// Returns the default routing key of a request queue: `bulk` for `push.requests.bulk`.
    public static func lastWord(of queue: String) -> String {
        queue.split(separator: ".").last.map { String($0) } ?? queue
    }
}

/// Exchanges and queues.
extension Topology {
    /// Returns all exchanges except those of registrations, fleet control and wait queues.
    private static func exchanges(_ names: TopologyNames) -> [Exchange] {
        [
            Exchange(name: names.unroutedExchange, kind: .fanout, arguments: []),
            Exchange(name: names.requestsExchange, kind: .topic, arguments: []),
        ] + shardsExchanges(names) + [
            // A result without a queue must not delay the acknowledgment of its request.
            Exchange(
                name: names.resultsExchange, kind: .topic,
                arguments: [.text("alternate-exchange", names.unroutedExchange)]),
            Exchange(name: names.deadExchange, kind: .topic, arguments: []),
            Exchange(name: names.otherDeadLettersExchange, kind: .fanout, arguments: []),
            Exchange(
                name: names.deadLetterSortExchange, kind: .headers,
                arguments: [.text("alternate-exchange", names.otherDeadLettersExchange)]),
            Exchange(name: names.brokerDeadLettersExchange, kind: .fanout, arguments: []),
            // Workers publish to this exchange, because a permission for the default exchange would apply to every
            // queue.
            Exchange(name: names.quarantineQueue, kind: .fanout, arguments: []),
        ]
    }

    private static func registrationsExchange(_ names: TopologyNames) -> Exchange {
        Exchange(name: names.registrationsExchange, kind: .topic, arguments: [])
    }

    /// Returns each request queue, followed by its shards.
    private static func requestQueues(_ names: TopologyNames) -> [Queue] {
        let arguments = quorum + deadLettersTo(exchange: names.brokerDeadLettersExchange)
        return names.requestQueues.flatMap { queue in
            [Queue(name: queue, arguments: arguments)]
                + names.shards(of: queue).map { Queue(name: $0, arguments: arguments + spread) }
        }
    }

    private static func waitQueues(_ names: TopologyNames, _ waits: [WaitDelay]) -> [Queue] {
        waits.flatMap { delay in
            (0..<WaitDelay.siblings).map { sibling in
                // Without a dead-letter routing key, a message keeps its routing key, the name of the queue to which it
                // returns.
                Queue(
                    name: names.waitQueue(delay, sibling: sibling),
                    arguments: quorum + [.integer("x-message-ttl", delay.milliseconds(sibling: sibling))]
                        + deadLettersTo(exchange: ""))
            }
        }
    }
}

/// Bindings.
extension Topology {
    /// Returns all bindings except those of request queues, shards, registrations, fleet control and wait
    /// queues.
    private static func bindings(_ names: TopologyNames, _ results: ResultsRetention) -> [Binding] {
        [Binding(queue: names.quarantineQueue, exchange: names.quarantineQueue, routingKey: "")]
            + (results.hasQueue ? [everyResult(names)] : []) + [
                Binding(queue: names.deadQueue, exchange: names.deadExchange, routingKey: "dead.#"),
                Binding(queue: names.deadQueue, exchange: names.otherDeadLettersExchange, routingKey: ""),
                // A headers exchange can match `x-first-death-reason`, but not `x-death`. The reason is also `expired`
                // if the request has waited in a wait queue, so workers decide by `x-death`.
                Binding(
                    queue: names.expiredQueue, exchange: names.deadLetterSortExchange, routingKey: "",
                    arguments: [.text("x-match", "all-with-x"), .text("x-first-death-reason", "expired")]),
                Binding(
                    destination: names.deadLetterSortExchange, kind: .exchange,
                    exchange: names.brokerDeadLettersExchange, routingKey: ""),
                Binding(queue: names.unroutedQueue, exchange: names.unroutedExchange, routingKey: ""),
            ]
    }

    private static func formerBindings(
        _ names: TopologyNames, _ results: ResultsRetention, _ shardings: [Sharding]
    ) -> [Binding] {
        let requests = shardings.flatMap(\.bindings)
        let former = Set(names.requestQueues + TopologyNames(prefix: names.prefix).requestQueues).sorted().map {
            Binding(queue: $0, exchange: names.requestsExchange, routingKey: everyKey)
        }
        let formerRequests = names.requestQueues.count == 1 ? [] : former.filter { !requests.contains($0) }
        let formerOfSharded = shardings.filter(\.isSharded).flatMap(\.formerBindings)
        return formerRequests.filter { !formerOfSharded.contains($0) } + formerOfSharded
            + (results.hasQueue ? [] : [everyResult(names)])
            + [Binding(queue: names.deadQueue, exchange: names.brokerDeadLettersExchange, routingKey: "")]
    }

    private static func everyRegistration(_ names: TopologyNames) -> Binding {
        Binding(queue: names.registrationsQueue, exchange: names.registrationsExchange, routingKey: everyKey)
    }

    private static func everyResult(_ names: TopologyNames) -> Binding {
        Binding(queue: names.resultsQueue, exchange: names.resultsExchange, routingKey: "result.#")
    }
}
