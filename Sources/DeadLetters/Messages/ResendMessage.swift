package import AMQP
package import BrokerTopology

/// The messages with which unrouted results and waiting requests are published again.
package enum ResendMessage {
    package enum Refusal: Error, Equatable {
        /// An exchange other than the result exchange and the exchange for unrouted results.
        case foreignExchange(String)
        /// A queue that is neither a request queue, a shard nor the quarantine queue of the topology.
        case unknownRequestQueue(String)

        package var text: String {
            switch self {
            case .foreignExchange(let exchange): "published to '\(exchange)' instead of the result exchange"
            case .unknownRequestQueue(let queue): "'\(queue)' is not a request queue of this topology"
            }
        }
    }

    /// Returns the result for the result exchange, with the original routing key of the result. A result that was
    /// renewed by a scan has the exchange for unrouted results.
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

    /// Returns the request for the queue to which it returns after its wait. The routing key of the message is the name
    /// of this queue. Keeps the wait headers, so that a worker recognizes a duplicate.
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
