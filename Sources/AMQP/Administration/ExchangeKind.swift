/// The exchange types of every broker, and one that needs a plugin.
public enum ExchangeKind: String, Sendable, Hashable {
    case direct, fanout, topic, headers
    /// Routes each message to one of the bindings by a hash of a header or property. Needs the plugin
    /// `rabbitmq_consistent_hash_exchange`.
    case consistentHash = "x-consistent-hash"
}
