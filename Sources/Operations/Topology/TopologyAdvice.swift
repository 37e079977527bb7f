import Delivery

/// What an operator can do about a part of the topology that is not as it should be.
struct TopologyAdvice: Sendable {
    static let apply = "run martlet topology apply"
    static let plugin =
        "shards need the plugin rabbitmq_consistent_hash_exchange: run rabbitmq-plugins enable "
        + "rabbitmq_consistent_hash_exchange on every node, then martlet topology apply"

    let virtualHost: String

    /// A queue has other arguments, which no declaration changes.
    func migrate(queue: String) -> String {
        "a broker cannot change it: let it run empty, then \(deletion(ofQueue: queue)) and \(Self.apply) again"
    }

    func deletion(ofQueue queue: String) -> String {
        "rabbitmqctl delete_queue -p \(Shell.quoted(virtualHost)) --if-empty \(Shell.quoted(queue))"
    }

    /// No request comes to a shard any more, but what waits comes back to it.
    func retire(shard: String) -> String {
        "no request comes to it any more; let workers of the configuration before empty it, and what waits for it, then "
            + deletion(ofQueue: shard)
    }

    /// An exchange is of another kind, or has other arguments.
    func migrate(exchange: String) -> String {
        "a broker cannot change it: delete it while nobody publishes, and \(Self.apply) again; what else was bound to it is "
            + "to be bound again"
    }

    /// A queue of results has other bounds, and somebody may have meant it.
    func bound(queue: String, _ results: ResultsRetention) -> String {
        let definition = #"{"message-ttl":\#(results.ageSecondsMax * 1000),"max-length":\#(results.lengthMax)}"#
        return
            "a policy sets them without deleting the queue: rabbitmqctl set_policy -p \(Shell.quoted(virtualHost)) "
            + "--apply-to queues \(Shell.quoted("\(queue)-bounds")) \(Shell.quoted("^\(Topology.escaped(queue))$")) "
            + Shell.quoted(definition)
    }
}

/// Words for a POSIX shell.
enum Shell {
    static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: #"'\''"#))'" }

    /// Quoted only if a shell would change it.
    static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        return isPlain && !text.isEmpty ? text : quoted(text)
    }

    /// The last operand of a command, also if it looks like an option.
    static func operand(_ text: String) -> String { text.hasPrefix("-") ? "-- \(word(text))" : word(text) }
}
