import Text

/// Remedies for missing or mismatched parts of the topology.
public struct TopologyAdvice: Sendable {
    public static let apply = "run martlet topology apply"
    public static let plugin =
        "shards need the plugin rabbitmq_consistent_hash_exchange: run rabbitmq-plugins enable "
        + "rabbitmq_consistent_hash_exchange on every node, then martlet topology apply"

    public let virtualHost: String

    public init(virtualHost: String) { self.virtualHost = virtualHost }

    /// Returns the remedy for a queue or stream with other arguments, which a declaration cannot change.
    public func migrate(_ queue: Topology.Queue) -> String {
        queue.isStream ? migrate(stream: queue.name) : migrate(queue: queue.name)
    }

    /// Returns the remedy for a stream with other arguments. Readers cannot drain a stream, and `--if-empty` protects
    /// no record, because RabbitMQ counts records of streams as 0 ready messages.
    private func migrate(stream: String) -> String {
        "a broker cannot change an existing stream: run rabbitmqctl delete_queue -p \(Shell.quoted(virtualHost)) "
            + "\(Shell.quoted(stream)), which deletes its records, then \(Self.apply) again"
    }

    /// Returns the remedy for a queue with other arguments, which a declaration cannot change.
    public func migrate(queue: String) -> String {
        "a broker cannot change an existing queue: drain the queue, run \(deletion(ofQueue: queue)), then "
            + "\(Self.apply) again"
    }

    public func deletion(ofQueue queue: String) -> String {
        "rabbitmqctl delete_queue -p \(Shell.quoted(virtualHost)) --if-empty \(Shell.quoted(queue))"
    }

    /// Returns the remedy for a shard that receives no new requests, but to which waiting requests return.
    public func retire(shard: String) -> String {
        "the shard receives no new requests; let workers of the previous configuration drain the shard and the "
            + "requests that wait for the shard, then run " + deletion(ofQueue: shard)
    }

    /// Returns the remedy for an exchange of another type or with other arguments.
    public func migrate(exchange: String) -> String {
        "a broker cannot change an existing exchange: stop the publishers, delete the exchange, \(Self.apply) again, "
            + "then restore the other bindings of the exchange and start the publishers"
    }

    /// Returns the remedy for a result queue that lacks a bound. Only an operator runs its command, because other
    /// bounds may be intended.
    public func bound(queue: String, _ results: ResultsRetention) -> String {
        let definition = #"{"message-ttl":\#(results.ageSecondsMax * 1000),"max-length":\#(results.lengthMax)}"#
        return
            "a policy sets bounds without deleting the queue: run rabbitmqctl set_policy -p \(Shell.quoted(virtualHost)) "
            + "--apply-to queues \(Shell.quoted("\(queue)-bounds")) \(Shell.quoted("^\(Topology.escaped(queue))$")) "
            + Shell.quoted(definition)
    }
}
