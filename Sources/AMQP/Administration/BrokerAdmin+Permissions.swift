extension BrokerAdmin {
    /// An exchange that exists on every broker.
    private static let predeclaredExchange = "amq.direct"
    /// The name of the default exchange in permissions. The exchange's name in AMQP is empty.
    public static let defaultExchange = "amq.default"

    /// Returns whether this user may publish to an exchange. Nothing is published.
    ///
    /// The call requests the removal of a binding from `amq.direct` to the exchange. This binding does not exist.
    /// RabbitMQ first checks the write permission for the exchange, as for a publish, and then the read permission for
    /// `amq.direct` (https://www.rabbitmq.com/docs/access-control#authorisation). The default exchange cannot have
    /// bindings, so the broker always refuses the request for the default exchange. The cause of the refusal shows
    /// whether the user has the write permission.
    ///
    /// Throws `notFound` if the exchange does not exist and the broker detects this before it checks the permissions.
    public func mayPublish(toExchange exchange: String) async throws(AMQPError) -> Bool {
        do {
            _ = try await call(
                .exchangeUnbind(exchange, source: Self.predeclaredExchange, routingKey: "martlet may publish"))
            return true
        } catch {
            guard error.code == .accessRefused else { throw error }
            return exchange.isEmpty
                ? error.detail != .refusedResource(Self.defaultExchange)
                : error.detail == .refusedResource(Self.predeclaredExchange)
        }
    }

    /// Returns whether this user may consume from a queue. Nothing is consumed, because the call requests an invalid
    /// priority. The broker refuses the priority after the permission check.
    ///
    /// Throws `notFound` if the user has the permission and the queue does not exist.
    public func mayConsume(fromQueue queue: String) async throws(AMQPError) -> Bool {
        do {
            _ = try await call(
                .basicConsume(queue: queue, consumerTag: "martlet may consume", arguments: ["x-priority": "none"]))
            return true
        } catch {
            switch error.code {
            case .preconditionFailed: return true
            case .accessRefused: return false
            default: throw error
            }
        }
    }
}
