/// The queues and streams other than request queues, their shards and wait queues. The properties of a case determine
/// its declaration, policies, permissions and checks.
///
/// The name of a queue is the prefix, a dot and the raw value. Topologies declare the queues in the order of the cases.
public enum FixedQueue: String, CaseIterable, Sendable {
    case quarantine, results, channels, registrations, expired, dead, unrouted, pauses
    case fleetCommands = "commands"
    case journal

    private var properties: Properties {
        switch self {
        // Only one consumer at a time is active, with a prefetch of 1. When a worker crashes, at most one quarantined
        // request is therefore unacknowledged.
        case .quarantine:
            Properties(
                contents: .requests, deadLetters: .toSortExchange,
                arguments: [.boolean("x-single-active-consumer", true)])
        // Consumers may bind their own queues instead.
        case .results: Properties(contents: .results, isOptional: true, isRequired: false)
        case .channels, .registrations:
            Properties(contents: .commands, deadLetters: .toSortExchange, isOptional: true)
        // Topologies of earlier versions lack this queue.
        case .expired: Properties(contents: .requests, deadLetters: .toOperators, isRequired: false)
        case .dead: Properties(contents: .deadLetters)
        case .unrouted: Properties(contents: .unroutedResults)
        // Workers start without the streams, because a fault of fleet control must not stop delivery.
        case .pauses:
            Properties(
                contents: .fleetControl, arguments: StreamRetention.pauses.arguments, isOptional: true,
                isRequired: false)
        case .fleetCommands:
            Properties(
                contents: .fleetControl, arguments: StreamRetention.commands.arguments, isOptional: true,
                isRequired: false)
        case .journal:
            Properties(
                contents: .journal, arguments: StreamRetention.journal.arguments, isOptional: true, isRequired: false)
        }
    }

    private struct Properties {
        let contents: Contents
        /// The destination of dead letters; nil if the queue dead-letters nothing.
        var deadLetters: DeadLetterTarget?
        /// Arguments in addition to those that follow from the other properties.
        var arguments: [Topology.Argument] = []
        var isOptional = false
        var isRequired = true
    }

    public enum Contents: Sendable {
        /// Requests, which workers consume.
        case requests
        /// Commands, which workers consume. Workers reply through the default exchange.
        case commands
        /// Results, whose consumers need only the permission to read the queue. ``ResultsRetention`` bounds the queue.
        case results
        /// Unrouted results, which operators read. ``ResultsRetention`` bounds the queue.
        case unroutedResults
        /// Dead letters, which operators read.
        case deadLetters
        /// Records of operators in a stream. Workers and operators read the stream without removing records.
        case fleetControl
        /// Batches of workers in a stream, which observers and operators read.
        case journal
    }

    private enum DeadLetterTarget {
        case toSortExchange, toOperators
    }

    public var contents: Contents { properties.contents }

    /// Whether only some configurations have the queue.
    public var isOptional: Bool { properties.isOptional }

    /// Whether a worker waits until the queue exists, if the configuration has it.
    public var isRequired: Bool { properties.isRequired }

    /// Whether the queue is bounded by length and age.
    var isBounded: Bool {
        switch contents {
        case .results, .unroutedResults: true
        case .requests, .commands, .deadLetters, .fleetControl, .journal: false
        }
    }

    /// The argument that chooses the type of the queue.
    private var type: [Topology.Argument] {
        switch contents {
        case .requests, .commands, .results, .unroutedResults, .deadLetters: Topology.quorum
        case .fleetControl, .journal: Topology.stream
        }
    }

    func arguments(_ names: TopologyNames, _ results: ResultsRetention) -> [Topology.Argument] {
        let deadLetters: [Topology.Argument] =
            switch properties.deadLetters {
            case .toSortExchange?: Topology.deadLettersTo(exchange: names.brokerDeadLettersExchange)
            case .toOperators?: Topology.deadLettersTo(exchange: names.otherDeadLettersExchange)
            case nil: []
            }
        return type + (isBounded ? Topology.bounds(results) : []) + deadLetters + properties.arguments
    }
}

extension Topology {
    /// Returns the names of this topology's fixed queues with the given contents. Optional queues are last, so an
    /// optional queue only extends the end of a pattern of names.
    func fixedQueues(of contents: FixedQueue.Contents...) -> [String] {
        let found = fixedQueues.filter { contents.contains($0.contents) }
        return (found.filter { !$0.isOptional } + found.filter(\.isOptional)).map(names.name)
    }

    /// Queues whose requests wait for a worker: request queues and their shards, quarantine, expired queue.
    public var queuesOfRequests: [String] { names.requestQueuesAndShards + fixedQueues(of: .requests) }

    /// Queues whose commands wait for a worker.
    public var queuesOfCommands: [String] { fixedQueues(of: .commands) }

    /// Whether workers store device registrations, and publish a request for each device of a user.
    public var hasRegistrations: Bool { fixedQueues.contains(.registrations) }

    /// Queues that a worker needs. See ``FixedQueue/isRequired``.
    public var requiredQueues: [String] {
        let others = fixedQueues.filter { !$0.isRequired }.map(names.name)
        return queues.map(\.name).filter { !others.contains($0) }
    }

    /// Returns whether ``ResultsRetention`` bounds the queue.
    public func isBounded(_ queue: String) -> Bool {
        fixedQueues.contains { $0.isBounded && names.name(of: $0) == queue }
    }
}
