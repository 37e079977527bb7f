import Text

/// What an operator can do about a missing or mismatched part of the topology.
public struct TopologyAdvice: Sendable {
    public static let apply = "run martlet topology apply"
    public static let plugin =
        "shards need the plugin rabbitmq_consistent_hash_exchange: run rabbitmq-plugins enable "
        + "rabbitmq_consistent_hash_exchange on every node, then martlet topology apply"

    public let virtualHost: String

    public init(virtualHost: String) { self.virtualHost = virtualHost }

    /// Returns the way to other arguments of a queue, which no declaration changes.
    public func migrate(queue: String) -> String {
        "a broker cannot change it: let it run empty, then \(deletion(ofQueue: queue)) and \(Self.apply) again"
    }

    public func deletion(ofQueue queue: String) -> String {
        "rabbitmqctl delete_queue -p \(Shell.quoted(virtualHost)) --if-empty \(Shell.quoted(queue))"
    }

    /// Returns the way to delete a shard that receives no request any more, but to which waiting requests return.
    public func retire(shard: String) -> String {
        "no request comes to it any more; let workers of the configuration before empty it, and what waits for it, then "
            + deletion(ofQueue: shard)
    }

    /// Returns the way to another kind or other arguments of an exchange.
    public func migrate(exchange: String) -> String {
        "a broker cannot change it: delete it while nobody publishes, and \(Self.apply) again; what else was bound to it is "
            + "to be bound again"
    }

    /// Returns the way to the bounds of a result queue that has others, perhaps on purpose.
    public func bound(queue: String, _ results: ResultsRetention) -> String {
        let definition = #"{"message-ttl":\#(results.ageSecondsMax * 1000),"max-length":\#(results.lengthMax)}"#
        return
            "a policy sets them without deleting the queue: rabbitmqctl set_policy -p \(Shell.quoted(virtualHost)) "
            + "--apply-to queues \(Shell.quoted("\(queue)-bounds")) \(Shell.quoted("^\(Topology.escaped(queue))$")) "
            + Shell.quoted(definition)
    }
}
