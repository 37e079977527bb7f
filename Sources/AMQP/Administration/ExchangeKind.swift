/// The type of an exchange. All types except `consistentHash` exist on every broker.
public enum ExchangeKind: String, Sendable, Hashable {
    case direct, fanout, topic, headers
    /// The type that routes each message to one of the bindings. A hash of the routing key, a header or a property
    /// selects the binding. This type needs the plugin `rabbitmq_consistent_hash_exchange`.
    case consistentHash = "x-consistent-hash"
}
