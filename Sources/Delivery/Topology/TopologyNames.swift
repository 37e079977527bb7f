/// What everything at the broker is called: one prefix, then a word for what it holds.
public struct TopologyNames: Sendable, Hashable {
    /// First part of every name.
    public let prefix: String

    /// Topic: producers publish here (or straight to a queue of requests through the default exchange).
    public let requestsExchange: String
    /// Workers consume from these, and from their shards; at least one, the most important first.
    public let requestQueues: [String]
    /// Into how many shards a queue of requests is divided, for those that are.
    public let shardCounts: [String: Int]
    /// Where a message that was delivered again and again waits to be tried alone. The fanout exchange that leads to it
    /// has its name.
    public let quarantineQueue: String
    /// Topic: `result.<outcome>.<app>`. What no queue takes goes to `unroutedExchange`.
    public let resultsExchange: String
    /// The results of whoever binds no queue of their own.
    public let resultsQueue: String
    /// Topic: `dead.<class>.<code>.<app>`.
    public let deadExchange: String
    /// What operators work through.
    public let deadQueue: String
    /// Fanout: where the broker itself puts what a queue rejects, such as a body that is too large, and what expires there.
    public let brokerDeadLettersExchange: String
    /// Headers: leads what expired to `expiredQueue`, all else to `otherDeadLettersExchange`.
    public let deadLetterSortExchange: String
    /// Fanout: dead letters of the broker for operators.
    public let otherDeadLettersExchange: String
    /// What expired in a queue. Workers take it from there: a request gets its result.
    public let expiredQueue: String
    /// Fanout: results that nobody was bound for.
    public let unroutedExchange: String
    public let unroutedQueue: String
    /// Commands for broadcast channels, which are published straight to it.
    public let channelsQueue: String

    static let brokerDeadLettersSuffix = ".dlx"

    /// - Parameters:
    ///   - requestQueues: none stands for `<prefix>.requests`.
    ///   - shards: of each of them, by name, 1 to ``shardsMax``; 1 where it is left out.
    public init(prefix: String = "push", requestQueues: [String] = [], shards: [String: Int] = [:]) {
        self.prefix = prefix
        self.requestsExchange = "\(prefix).requests"
        self.requestQueues = requestQueues.isEmpty ? ["\(prefix).requests"] : requestQueues
        self.shardCounts = shards.filter { $0.value > 1 }
        self.quarantineQueue = "\(prefix).quarantine"
        self.resultsExchange = "\(prefix).results"
        self.resultsQueue = "\(prefix).results"
        self.deadExchange = "\(prefix).dead"
        self.deadQueue = "\(prefix).dead"
        self.brokerDeadLettersExchange = prefix + Self.brokerDeadLettersSuffix
        self.deadLetterSortExchange = "\(brokerDeadLettersExchange).sort"
        self.otherDeadLettersExchange = "\(brokerDeadLettersExchange).rest"
        self.expiredQueue = "\(prefix).expired"
        self.unroutedExchange = "\(prefix).unrouted"
        self.unroutedQueue = "\(prefix).unrouted"
        self.channelsQueue = "\(prefix).channels"
    }

    /// Whether a queue of that name is another than one of requests.
    public func isTaken(_ queue: String) -> Bool {
        [quarantineQueue, resultsQueue, deadQueue, unroutedQueue, channelsQueue, expiredQueue].contains(queue)
            || isWaitQueue(queue)
    }

    /// Also of a wait queue's exchange, which has its name.
    package func isWaitQueue(_ queue: String) -> Bool { queue.hasPrefix("\(prefix).wait.") }

    /// Whether a queue of that name is one of this topology, or could be.
    func isOurs(_ queue: String) -> Bool { queue.hasPrefix("\(prefix).") || takenQueues.contains(queue) }

    /// Where a message waits for the sibling's time: a queue, and the fanout exchange of the same name that leads to it.
    /// What is published there with a queue's name as routing key comes back to that queue.
    ///
    /// - Parameter sibling: 0 to ``WaitDelay/siblings`` − 1; the name counts them from 1.
    public func waitQueue(_ delay: WaitDelay, sibling: Int) -> String {
        "\(prefix).wait.\(delay.label).\(sibling + 1)"
    }
}
