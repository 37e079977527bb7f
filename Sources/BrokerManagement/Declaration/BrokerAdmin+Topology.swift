public import AMQP
public import BrokerTopology

/// Declarations of a topology's objects over AMQP.
extension BrokerAdmin {
    func declare(_ exchange: Topology.Exchange) async throws(AMQPError) {
        try await declareExchange(
            exchange.name, ExchangeKind(exchange.kind), arguments: FieldTable(exchange.arguments))
    }

    enum DeclaredQueue {
        case asDeclared
        /// An existing queue without the argument that turns off the broker's delivery limit.
        case withBrokersDeliveryLimit
    }

    /// Declares a queue. Accepts an existing queue without the argument that turns off the broker's delivery limit.
    /// Earlier versions of Martlet declared such queues and set a policy instead.
    @discardableResult
    func declare(_ queue: Topology.Queue) async throws(AMQPError) -> DeclaredQueue {
        do throws(AMQPError) {
            try await declareQueue(queue.name, arguments: FieldTable(queue.arguments))
            return .asDeclared
        } catch {
            guard queue.hasNoDeliveryLimit, error.isAboutDeliveryLimit else { throw error }
            try await declareQueue(queue.name, arguments: FieldTable(queue.withBrokersDeliveryLimit.arguments))
            return .withBrokersDeliveryLimit
        }
    }

    func bind(_ binding: Topology.Binding) async throws(AMQPError) {
        let (destination, exchange, key) = (binding.destination, binding.exchange, binding.routingKey)
        switch binding.kind {
        case .queue:
            try await bindQueue(
                destination, toExchange: exchange, routingKey: key, arguments: FieldTable(binding.arguments))
        case .exchange: try await bindExchange(destination, toExchange: exchange, routingKey: key)
        }
    }

    func unbind(_ binding: Topology.Binding) async throws(AMQPError) {
        let (destination, exchange, key) = (binding.destination, binding.exchange, binding.routingKey)
        switch binding.kind {
        case .queue: try await unbindQueue(destination, fromExchange: exchange, routingKey: key)
        case .exchange: try await unbindExchange(destination, fromExchange: exchange, routingKey: key)
        }
    }
}

extension ExchangeKind {
    public init(_ kind: Topology.Exchange.Kind) {
        self =
            switch kind {
            case .direct: .direct
            case .topic: .topic
            case .fanout: .fanout
            case .headers: .headers
            case .consistentHash: .consistentHash
            }
    }
}

extension FieldTable {
    public init(_ arguments: [Topology.Argument]) {
        self.init(
            arguments.map { argument in
                switch argument.value {
                case .text(let text): Entry(argument.name, .string(text))
                case .integer(let number): Entry(argument.name, .integer(number))
                case .boolean(let flag): Entry(argument.name, .boolean(flag))
                }
            })
    }
}

extension BrokerVersion {
    /// Reads the version from the properties that a broker sends before the login. Returns nil if the broker is not
    /// RabbitMQ or the version is malformed.
    public init?(_ serverProperties: FieldTable) {
        guard serverProperties["product"]?.stringValue == "RabbitMQ",
            let text = serverProperties["version"]?.stringValue
        else { return nil }
        self.init(text)
    }
}
