package import AMQP
package import BrokerTopology

/// An unrouted result or a waiting request, published again as it is.
package enum ResendMessage {
    package enum Refusal: Error, Equatable {
        /// The topology has no way from this exchange to the queue.
        case foreignExchange(String)
        /// The topology has no such request queue.
        case unknownRequestQueue(String)

        package var text: String {
            switch self {
            case .foreignExchange(let exchange): "it was not published to the exchange for results but to '\(exchange)'"
            case .unknownRequestQueue(let queue): "its destination '\(queue)' is not a request queue of this topology"
            }
        }
    }

    /// For the exchange for results, with its own routing key. One that a command renewed has come through the exchange
    /// for unrouted results.
    package static func result(_ message: IncomingMessage, _ copy: RepublishableMessage, _ names: TopologyNames)
        throws(Refusal)
        -> OutgoingMessage
    {
        guard [names.resultsExchange, names.unroutedExchange].contains(message.exchange) else {
            throw .foreignExchange(message.exchange)
        }
        var result = copy.message(to: message.routingKey)
        result.exchange = names.resultsExchange
        return result
    }

    /// For the queue that the wait queue would return it to: its routing key. Headers are those of the wait, so that a
    /// worker recognizes the request if it receives it twice.
    package static func request(_ message: IncomingMessage, _ copy: RepublishableMessage, _ names: TopologyNames)
        throws(Refusal)
        -> OutgoingMessage
    {
        let queue = message.routingKey
        guard names.requestQueuesAndShards.contains(queue) || queue == names.quarantineQueue else {
            throw .unknownRequestQueue(queue)
        }
        return copy.message(to: queue)
    }
}
