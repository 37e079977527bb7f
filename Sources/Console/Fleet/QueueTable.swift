import AMQP
import BrokerTopology

/// The depths of the queues of a topology, from the last passive declares. It performs no I/O.
struct QueueTable: Sendable {
    /// The kind of messages in a queue, for the page.
    enum Kind: Sendable, Hashable {
        case requests
        case wait
        case fixed(FixedQueue)

        var word: String {
            switch self {
            case .requests: "requests"
            case .wait: "wait"
            case .fixed(let queue): queue.rawValue
            }
        }

        /// Whether the queue is a stream, for which the page shows no number of messages.
        var isStream: Bool {
            switch self {
            case .fixed(.pauses), .fixed(.fleetCommands), .fixed(.journal): true
            case .fixed, .requests, .wait: false
            }
        }
    }

    /// The last answer of the broker for a queue.
    enum Answer: Sendable, Hashable {
        case status(messages: Int, consumers: Int)
        case refused(String)
    }

    /// The names of all queues with their kinds. Request queues are the first, wait queues the last.
    let queues: [(name: String, kind: Kind)]
    private(set) var answers: [String: Answer] = [:]
    /// UNIX milliseconds of the last complete reading; nil before the first complete reading.
    private(set) var readAt: Int64?

    init(_ topology: Topology) {
        let names = topology.names
        queues =
            names.requestQueuesAndShards.map { ($0, .requests) }
            + topology.fixedQueues.map { (names.name(of: $0), .fixed($0)) }
            + topology.waitQueues.map { ($0, .wait) }
    }

    /// Replaces the answers. Returns whether an answer has changed.
    mutating func replace(_ answers: [String: Answer], at now: Int64) -> Bool {
        readAt = now
        defer { self.answers = answers }
        return self.answers != answers
    }

    func consumers(of queue: String) -> Int? {
        guard case .status(_, let consumers) = answers[queue] else { return nil }
        return consumers
    }

    /// The number of dead letters in their queue; nil if it is unknown.
    var deadLetters: Int? {
        guard let name = queues.first(where: { $0.kind == .fixed(.dead) })?.name,
            case .status(let messages, _) = answers[name]
        else { return nil }
        return messages
    }

    /// The number of requests in the wait queues; nil if it is unknown.
    var waiting: Int? { messages(in: .wait) }

    /// The number of messages in all queues of a kind; nil if it is unknown.
    func messages(in kind: Kind) -> Int? {
        let counts = queues.filter { $0.kind == kind }.map { answers[$0.name] }
        var sum = 0
        for case let answer in counts {
            guard case .status(let messages, _) = answer else { return nil }
            sum += messages
        }
        return sum
    }
}
