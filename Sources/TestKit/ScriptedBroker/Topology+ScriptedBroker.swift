import AMQP
import BrokerManagement
public import BrokerTopology

extension Topology {
    /// Declares the topology, as `martlet topology apply` does on a real broker.
    public func declare(at broker: ScriptedBroker) {
        for exchange in exchanges {
            broker.declareExchange(
                exchange.name, ExchangeKind(exchange.kind), arguments: FieldTable(exchange.arguments))
        }
        for queue in queues { broker.declareQueue(queue.name, arguments: FieldTable(queue.arguments)) }
        for binding in bindings {
            let (destination, exchange) = (binding.destination, binding.exchange)
            switch binding.kind {
            case .queue:
                broker.bindQueue(
                    destination, toExchange: exchange, routingKey: binding.routingKey,
                    arguments: FieldTable(binding.arguments))
            case .exchange: broker.bindExchange(destination, toExchange: exchange, routingKey: binding.routingKey)
            }
        }
    }
}
