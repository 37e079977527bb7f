/// The types of exchange that every broker has, and one of a plugin.
public enum ExchangeKind: String, Sendable, Hashable {
    case direct, fanout, topic, headers
    /// Of the plugin `rabbitmq_consistent_hash_exchange`: each message goes to one of what is bound, the same for the same
    /// value of what the exchange hashes by.
    case consistentHash = "x-consistent-hash"
}
