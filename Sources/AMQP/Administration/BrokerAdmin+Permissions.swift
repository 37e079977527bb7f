extension BrokerAdmin {
    private static let everyBrokersExchange = "amq.direct"
    /// What permissions call the one whose name is empty.
    public static let defaultExchange = "amq.default"

    /// Whether this user may publish to an exchange. Nothing is published: to take away a binding that leads there, and which
    /// is not there, asks for the same right, and then for that to read where it leads from
    /// (https://www.rabbitmq.com/docs/access-control#authorisation).
    ///
    /// The default exchange, whose name is empty, has no bindings: the error shows whether this user may publish there.
    ///
    /// Throws `notFound` where the broker looks for the exchange first and there is none.
    public func mayPublish(toExchange exchange: String) async throws(AMQPError) -> Bool {
        do {
            _ = try await call(
                .exchangeUnbind(exchange, source: Self.everyBrokersExchange, routingKey: "martlet may publish"))
            return true
        } catch {
            guard error.code == .accessRefused else { throw error }
            return exchange.isEmpty
                ? error.detail != .refusedResource(Self.defaultExchange)
                : error.detail == .refusedResource(Self.everyBrokersExchange)
        }
    }

    /// Whether this user may consume from a queue. Nothing is consumed: the broker refuses a priority that is no number, but
    /// only to whom may consume.
    ///
    /// Throws `notFound` when there is no such queue.
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
