package import BrokerTopology
import Text

/// The queues that a command reads, and the words for their messages.
package enum MessageSource: Equatable, Sendable {
    case deadLetters
    /// Results without a bound queue.
    case unrouted
    /// Requests in wait queues.
    case waits

    /// The command. Its connections have the same name in RabbitMQ's management UI.
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

    /// A remedy if the scan window is smaller than the queue.
    package var roomAdvice: String {
        switch self {
        case .deadLetters: "redrive or drop some dead letters first"
        case .unrouted: "replay some results first"
        case .waits: "bring some requests back first"
        }
    }

    package func queues(of topology: Topology) -> [String] {
        switch self {
        case .deadLetters: [topology.names.deadQueue]
        case .unrouted: [topology.names.unroutedQueue]
        case .waits: topology.waitQueues
        }
    }

    /// Returns the name of the queue for output, or a pattern for several queues.
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
        case .deadLetters: "Send \(count.counted("dead letter")) of \(place) as requests?"
        case .unrouted: "Publish \(count.counted("result")) of \(place) again?"
        case .waits: "Return \(count.counted("request")) from \(place) to the request queues?"
        }
    }

    /// Returns the exchange that routes a renewed message, with the original routing key, to the same queue. Returns
    /// nil if the message must be published to the queue through the default exchange.
    func renewalExchange(_ names: TopologyNames) -> String? {
        switch self {
        case .unrouted: names.unroutedExchange
        // Waiting requests are never renewed. If a waiting request exceeds a delivery limit, the broker returns the
        // request to its request queue.
        case .deadLetters, .waits: nil
        }
    }
}
