package import BrokerTopology

/// The queues that a command reads, and the names of what they hold.
package enum MessageSource: Equatable, Sendable {
    case deadLetters
    /// Results that no queue is bound for.
    case unrouted
    /// Requests that wait for their next attempt.
    case waits

    /// The broker's management shows it as the name of the connections.
    package var command: String {
        switch self {
        case .deadLetters: "martlet dead-letters"
        case .unrouted: "martlet unrouted"
        case .waits: "martlet waits"
        }
    }

    /// The subcommand that publishes messages again.
    package var resendWord: String {
        switch self {
        case .deadLetters: "redrive"
        case .unrouted: "replay"
        case .waits: "bring-back"
        }
    }

    /// Past participle of `resendWord`.
    package var resent: String {
        switch self {
        case .deadLetters: "redriven"
        case .unrouted: "replayed"
        case .waits: "brought back"
        }
    }

    package var noun: String {
        switch self {
        case .deadLetters: "dead letter"
        case .unrouted: "result"
        case .waits: "request"
        }
    }

    /// What makes room where a scan sees only a part.
    package var roomAdvice: String {
        switch self {
        case .deadLetters: "redrive, or drop with --export, some of them first"
        case .unrouted: "replay some of them first"
        case .waits: "bring some of them back first"
        }
    }

    package func queues(of topology: Topology) -> [String] {
        switch self {
        case .deadLetters: [topology.names.deadQueue]
        case .unrouted: [topology.names.unroutedQueue]
        case .waits: topology.waitQueues
        }
    }

    /// For people: the queue, or what several are called together.
    package func place(_ names: TopologyNames) -> String {
        switch self {
        case .deadLetters: names.deadQueue
        case .unrouted: names.unroutedQueue
        case .waits: "\(names.waitQueuePrefix)*"
        }
    }

    package func question(_ count: Int, _ names: TopologyNames) -> String {
        let place = place(names)
        return switch self {
        case .deadLetters: "Send \(count) dead letters of \(place) as requests?"
        case .unrouted: "Publish \(count) results of \(place) again?"
        case .waits: "Bring \(count) requests back from \(place)?"
        }
    }

    /// The exchange through which a message gets into its queue again with its routing key; nil: the default exchange.
    func renewalExchange(_ names: TopologyNames) -> String? {
        switch self {
        case .unrouted: names.unroutedExchange
        // The broker returns a waiting request that exceeds a limit of deliveries to its request queue: none is renewed.
        case .deadLetters, .waits: nil
        }
    }
}
