/// The queues beside request queues and wait queues. A new queue is a case here with its properties: its name, declaration,
/// policies, permissions and checks follow from them.
///
/// The name is the prefix, a dot and the raw value. Topologies declare the queues in the order of the cases.
public enum FixedQueue: String, CaseIterable, Sendable {
    case quarantine, results, channels, expired, dead, unrouted

    private var properties: Properties {
        switch self {
        // It delivers one message at a time to one worker, so a request that crashes workers affects no other.
        case .quarantine:
            Properties(
                contents: .requests, deadLetters: .toSortExchange,
                arguments: [.boolean("x-single-active-consumer", true)])
        // Consumers may bind queues of their own instead.
        case .results: Properties(contents: .results, isOptional: true, isRequired: false)
        case .channels: Properties(contents: .commands, deadLetters: .toSortExchange, isOptional: true)
        // Topologies of earlier versions lack it.
        case .expired: Properties(contents: .requests, deadLetters: .toOperators, isRequired: false)
        case .dead: Properties(contents: .deadLetters)
        case .unrouted: Properties(contents: .unroutedResults)
        }
    }

    private struct Properties {
        let contents: Contents
        /// nil: the queue dead-letters nothing.
        var deadLetters: DeadLetterTarget?
        /// Arguments beside those that follow from the rest.
        var arguments: [Topology.Argument] = []
        var isOptional = false
        var isRequired = true
    }

    public enum Contents: Sendable {
        /// Workers consume it.
        case requests
        /// Workers consume it and reply.
        case commands
        /// Its consumers have no other rights. ``ResultsRetention`` bounds it.
        case results
        /// Operators read it. ``ResultsRetention`` bounds it.
        case unroutedResults
        /// Operators read it.
        case deadLetters
    }

    private enum DeadLetterTarget {
        case toSortExchange, toOperators
    }

    public var contents: Contents { properties.contents }

    /// Whether only some configurations have it.
    public var isOptional: Bool { properties.isOptional }

    /// Whether a worker waits until it exists, if the configuration has it.
    public var isRequired: Bool { properties.isRequired }

    /// Whether its length and the age of its messages are bounded.
    var isBounded: Bool {
        switch contents {
        case .results, .unroutedResults: true
        case .requests, .commands, .deadLetters: false
        }
    }

    func arguments(_ names: TopologyNames, _ results: ResultsRetention) -> [Topology.Argument] {
        let deadLetters: [Topology.Argument] =
            switch properties.deadLetters {
            case .toSortExchange?: Topology.deadLettersTo(exchange: names.brokerDeadLettersExchange)
            case .toOperators?: Topology.deadLettersTo(exchange: names.otherDeadLettersExchange)
            case nil: []
            }
        return Topology.quorum + (isBounded ? Topology.bounds(results) : []) + deadLetters + properties.arguments
    }
}

extension Topology {
    /// Returns the names of the fixed queues with such contents that this topology has. Those of every configuration come
    /// first, so a pattern of names only grows at its end.
    func fixedQueues(of contents: FixedQueue.Contents...) -> [String] {
        let found = fixedQueues.filter { contents.contains($0.contents) }
        return (found.filter { !$0.isOptional } + found.filter(\.isOptional)).map(names.name)
    }

    /// Queues whose requests wait for a worker: request queues and their shards, quarantine, expired queue.
    public var queuesOfRequests: [String] { names.requestQueuesAndShards + fixedQueues(of: .requests) }

    /// Queues without which a worker does not start.
    public var requiredQueues: [String] {
        let others = fixedQueues.filter { !$0.isRequired }.map(names.name)
        return queues.map(\.name).filter { !others.contains($0) }
    }

    /// Whether ``ResultsRetention`` bounds the queue.
    public func isBounded(_ queue: String) -> Bool {
        fixedQueues.contains { $0.isBounded && names.name(of: $0) == queue }
    }
}
