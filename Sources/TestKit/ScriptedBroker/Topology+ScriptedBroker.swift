import AMQP
public import Delivery

extension Topology {
    /// What `martlet topology apply` does at a real broker.
    public func declare(at broker: ScriptedBroker) {
        for exchange in exchanges {
            let kind: ExchangeKind =
                switch exchange.kind {
                case .direct: .direct
                case .topic: .topic
                case .fanout: .fanout
                case .headers: .headers
                case .consistentHash: .consistentHash
                }
            broker.declareExchange(exchange.name, kind, arguments: Self.table(exchange.arguments))
        }
        for queue in queues { broker.declareQueue(queue.name, arguments: Self.table(queue.arguments)) }
        for binding in bindings {
            let (destination, exchange) = (binding.destination, binding.exchange)
            switch binding.kind {
            case .queue:
                broker.bindQueue(
                    destination, toExchange: exchange, routingKey: binding.routingKey,
                    arguments: Self.table(binding.arguments))
            case .exchange: broker.bindExchange(destination, toExchange: exchange, routingKey: binding.routingKey)
            }
        }
    }

    private static func table(_ arguments: [Argument]) -> FieldTable {
        FieldTable(
            arguments.map { argument in
                switch argument.value {
                case .text(let text): FieldTable.Entry(argument.name, .string(text))
                case .integer(let number): FieldTable.Entry(argument.name, .integer(number))
                case .boolean(let flag): FieldTable.Entry(argument.name, .boolean(flag))
                }
            })
    }
}
