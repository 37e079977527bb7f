/// Names of the objects at the broker: one prefix, then a word for the contents.
public struct TopologyNames: Sendable, Hashable {
    /// First part of every name except those of request queues.
    public let prefix: String

    /// Topic. Producers publish here, or to a request queue through the default exchange.
    public let requestsExchange: String
    /// Queues that workers consume, beside their shards; at least one, the most important first.
    public let requestQueues: [String]
    /// Number of shards of each request queue that is divided.
    public let shardCounts: [String: Int]
    /// Holds requests that were redelivered repeatedly. A fanout exchange of the same name leads to it.
    public let quarantineQueue: String
    /// Topic: `result.<outcome>.<app>`. A result without a queue goes to `unroutedExchange`.
    public let resultsExchange: String
    /// Receives every result, for consumers that bind no queue of their own.
    public let resultsQueue: String
    /// Topic: `dead.<class>.<code>.<app>`.
    public let deadExchange: String
    /// Dead letters for operators.
    public let deadQueue: String
    /// Fanout. The broker publishes here what a queue rejects, such as a body that is too large, and what expires there.
    public let brokerDeadLettersExchange: String
    /// Headers: leads expired messages to `expiredQueue`, all others to `otherDeadLettersExchange`.
    public let deadLetterSortExchange: String
    /// Fanout: the broker's dead letters for operators.
    public let otherDeadLettersExchange: String
    /// Messages that expired in a queue. Workers consume it and publish the result of an expired request.
    public let expiredQueue: String
    /// Fanout: results without a queue.
    public let unroutedExchange: String
    public let unroutedQueue: String
    /// Commands for broadcast channels, which are published straight to it.
    public let channelsQueue: String
    /// First part of the names of wait queues, and of the exchanges that lead to them: `push.wait.`.
    public let waitQueuePrefix: String

    public static let brokerDeadLettersSuffix = ".dlx"
    /// The word after the prefix in the name of a wait queue.
    public static let waitWord = "wait"

    /// - Parameters:
    ///   - requestQueues: if empty, `<prefix>.requests`.
    ///   - shards: number of shards by request queue, 1 to ``shardsMax``; 1 if missing.
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
        self.waitQueuePrefix = "\(prefix).\(Self.waitWord)."
    }

    public func name(of queue: FixedQueue) -> String { Self.name(of: queue, prefix) }

    private static func name(of queue: FixedQueue, _ prefix: String) -> String { "\(prefix).\(queue.rawValue)" }

    /// Whether a queue of this name cannot be a request queue.
    public func isReserved(_ queue: String) -> Bool {
        isWaitQueue(queue) || FixedQueue.allCases.contains { name(of: $0) == queue }
    }

    /// Also true of the exchange that leads to a wait queue and has its name.
    public func isWaitQueue(_ queue: String) -> Bool { queue.hasPrefix(waitQueuePrefix) }

    /// Whether a queue belongs to this topology, or would with another configuration or version.
    public func isOwn(_ queue: String) -> Bool {
        queue.hasPrefix("\(prefix).") || requestQueuesAndShards.contains(queue)
    }

    /// Returns the name of a wait queue and of the fanout exchange that leads to it. A message that is published there with a
    /// queue's name as routing key returns to that queue.
    ///
    /// - Parameter sibling: 0 to ``WaitDelay/siblings`` − 1. The name counts siblings from 1.
    public func waitQueue(_ delay: WaitDelay, sibling: Int) -> String {
        "\(waitQueuePrefix)\(delay.label).\(sibling + 1)"
    }

    /// First part of the names of queues that a command such as `martlet watch` declares for itself: `push.watch.`.
    public var watchQueuePrefix: String { "\(prefix).watch." }

    /// The exchange by which early versions delayed requests. `martlet topology apply` reports that it is unused.
    public var formerRetryExchange: String { "\(prefix).retry" }
}
