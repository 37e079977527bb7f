/// Names of the objects at the broker: a prefix, then a word for the contents.
public struct TopologyNames: Sendable, Hashable {
    /// The first part of every name except those of request queues, of their shards and of the exchanges of shards.
    public let prefix: String

    /// A topic exchange. Producers publish to it, or to a request queue through the default exchange.
    public let requestsExchange: String
    /// The queues of requests, without their shards; at least one.
    public let requestQueues: [String]
    /// The number of shards of each divided request queue.
    public let shardCounts: [String: Int]
    /// The queue of requests that were redelivered repeatedly. A fanout exchange of the same name leads to the queue.
    public let quarantineQueue: String
    /// A topic exchange with keys of the form `result.<outcome>.<app>`. The broker routes a result without a queue to
    /// `unroutedExchange`.
    public let resultsExchange: String
    /// The queue that receives every result, for consumers that do not bind their own queues.
    public let resultsQueue: String
    /// A topic exchange with keys of the form `dead.<class>.<code>.<app>`.
    public let deadExchange: String
    /// The queue of dead letters, which operators read.
    public let deadQueue: String
    /// A fanout exchange to which the broker publishes dead letters: rejected messages, such as oversized messages,
    /// and messages that expired in a queue.
    public let brokerDeadLettersExchange: String
    /// A headers exchange that routes messages with the header `x-first-death-reason: expired` to `expiredQueue`, and
    /// all others to `otherDeadLettersExchange`.
    public let deadLetterSortExchange: String
    /// A fanout exchange for the broker's other dead letters. It leads to `deadQueue`.
    public let otherDeadLettersExchange: String
    /// The queue of messages that expired in another queue. Workers consume the queue and publish the result of each
    /// expired request.
    public let expiredQueue: String
    /// A fanout exchange for results without a queue.
    public let unroutedExchange: String
    public let unroutedQueue: String
    /// The queue of commands for broadcast channels. Producers publish commands directly to the queue.
    public let channelsQueue: String
    /// A topic exchange for commands about device registrations. Workers use keys of the form `registration.<app>`. The
    /// exchange is separate from `requestsExchange`, because its publishers can redirect a user's notifications to
    /// another device.
    public let registrationsExchange: String
    /// The queue that receives every command about device registrations.
    public let registrationsQueue: String
    /// A topic exchange to which operators publish. The keys are `pauses`, `command.<type>` and `audit.<verb>`.
    public let controlExchange: String
    /// A topic exchange to which workers publish. The keys are `status.<worker>`, `reply.<id>` and `journal.<worker>`.
    public let fleetExchange: String
    /// The stream whose newest record contains all pauses of the fleet.
    ///
    /// Readers of the stream must ignore records from exchanges other than `controlExchange`. Through the default
    /// exchange or the exchange of a wait queue, a user can put messages into every queue and stream.
    public let pausesStream: String
    /// The stream of commands to workers and of the audit of operators. Its readers have the same duty.
    public let commandsStream: String
    /// The stream of the workers' journal. Readers must ignore records of other exchanges than `fleetExchange`.
    public let journalStream: String
    /// The first part of the names of wait queues and of the exchanges that lead to them, such as `push.wait.`.
    public let waitQueuePrefix: String

    public static let brokerDeadLettersSuffix = ".dlx"
    /// The word after the prefix in the name of a wait queue.
    public static let waitWord = "wait"

    /// Creates the names of a topology.
    ///
    /// - Parameters:
    ///   - requestQueues: the request queues; if empty, `<prefix>.requests`.
    ///   - shards: the number of shards by request queue, 1 to ``shardsMax``; 1 if missing.
    public init(prefix: String = "push", requestQueues: [String] = [], shards: [String: Int] = [:]) {
        func name(_ queue: FixedQueue) -> String { Self.name(of: queue, prefix) }
        self.prefix = prefix
        self.requestsExchange = "\(prefix).requests"
        self.requestQueues = requestQueues.isEmpty ? ["\(prefix).requests"] : requestQueues
        self.shardCounts = shards.filter { $0.value > 1 }
        self.quarantineQueue = name(.quarantine)
        self.resultsExchange = "\(prefix).results"
        self.resultsQueue = name(.results)
        self.deadExchange = "\(prefix).dead"
        self.deadQueue = name(.dead)
        self.brokerDeadLettersExchange = prefix + Self.brokerDeadLettersSuffix
        self.deadLetterSortExchange = "\(brokerDeadLettersExchange).sort"
        self.otherDeadLettersExchange = "\(brokerDeadLettersExchange).rest"
        self.expiredQueue = name(.expired)
        self.unroutedExchange = "\(prefix).unrouted"
        self.unroutedQueue = name(.unrouted)
        self.channelsQueue = name(.channels)
        self.registrationsExchange = "\(prefix).registrations"
        self.registrationsQueue = name(.registrations)
        self.controlExchange = "\(prefix).control"
        self.fleetExchange = "\(prefix).fleet"
        self.pausesStream = name(.pauses)
        self.commandsStream = name(.fleetCommands)
        self.journalStream = name(.journal)
        self.waitQueuePrefix = "\(prefix).\(Self.waitWord)."
    }

    public func name(of queue: FixedQueue) -> String { Self.name(of: queue, prefix) }

    private static func name(of queue: FixedQueue, _ prefix: String) -> String { "\(prefix).\(queue.rawValue)" }

    /// Returns whether the topology uses the name for another kind of queue, so that no request queue can have the
    /// name.
    public func isReserved(_ queue: String) -> Bool {
        isWaitQueue(queue) || FixedQueue.allCases.contains { name(of: $0) == queue }
    }

    /// Returns whether the name belongs to a wait queue or to the exchange of the same name that leads to it.
    public func isWaitQueue(_ queue: String) -> Bool { queue.hasPrefix(waitQueuePrefix) }

    /// Returns whether a queue belongs to this topology, or would belong to it with another configuration or version.
    public func isOwn(_ queue: String) -> Bool {
        queue.hasPrefix("\(prefix).") || requestQueuesAndShards.contains(queue)
    }

    /// Returns the name of a wait queue and of the fanout exchange that leads to it. A message published to the
    /// exchange returns, after the delay, to the queue that its routing key names.
    ///
    /// - Parameter sibling: 0 to ``WaitDelay/siblings`` − 1. The name counts siblings from 1.
    public func waitQueue(_ delay: WaitDelay, sibling: Int) -> String {
        "\(waitQueuePrefix)\(delay.label).\(sibling + 1)"
    }

    /// The first part of the names of queues that a command such as `martlet watch` declares for itself: `push.watch.`.
    public var watchQueuePrefix: String { "\(prefix).watch." }

    /// The first part of the names of exclusive queues that exclude operators from each other: `push.lock.`.
    public var lockPrefix: String { "\(prefix).lock." }

    /// The exchange with which early versions delayed requests. `martlet topology apply` reports it as unused.
    public var formerRetryExchange: String { "\(prefix).retry" }
}
