import AMQP
import Delivery

/// An unrouted result or a waiting request, published again as it is.
enum ResendMessage {
    enum Refusal: Error, Equatable {
        /// The queue holds it, and it is none of those that the topology leads there.
        case foreign(String)

        var text: String {
            switch self {
            case .foreign(let origin): "'\(origin)' is not where messages of this queue come from"
            }
        }
    }

    /// For the exchange for results, with its own routing key. One that a command renewed has come through the exchange
    /// for unrouted results.
    static func result(_ message: IncomingMessage, _ copy: MessageCopy, _ names: TopologyNames) throws(Refusal)
        -> OutgoingMessage
    {
        guard [names.resultsExchange, names.unroutedExchange].contains(message.exchange) else {
            throw .foreign(message.exchange)
        }
        var result = copy.message(to: message.routingKey)
        result.exchange = names.resultsExchange
        return result
    }

    /// For the queue that the wait queue would return it to: its routing key. Headers are those of the wait, so that a
    /// worker recognizes the request if it receives it twice.
    static func request(_ message: IncomingMessage, _ copy: MessageCopy, _ names: TopologyNames) throws(Refusal)
        -> OutgoingMessage
    {
        let queue = message.routingKey
        guard names.takenQueues.contains(queue) || queue == names.quarantineQueue else { throw .foreign(queue) }
        return copy.message(to: queue)
    }
}
