import JSON

/// The topology as RabbitMQ's definitions file (https://www.rabbitmq.com/docs/definitions), one object on each line.
public enum DefinitionsFile {
    /// Returns the content of the file.
    ///
    /// - Parameter version: the broker's version; nil to include only definitions that every version accepts.
    public static func text(
        _ topology: Topology, virtualHost: String, version: BrokerVersion?, includesPolicies: Bool = true
    ) -> String {
        let exchanges = topology.exchanges.map { exchange in
            object(virtualHost) { json in
                json.member("name", exchange.name)
                json.member("type", exchange.kind.rawValue)
                json.member("durable", true)
                json.member("auto_delete", false)
                json.member("internal", false)
                json.arguments("arguments", exchange.arguments)
            }
        }
        let queues = topology.queues(at: version).map { queue in
            object(virtualHost) { json in
                json.member("name", queue.name)
                json.member("durable", true)
                json.member("auto_delete", false)
                json.arguments("arguments", queue.arguments)
            }
        }
        let bindings = topology.bindings.map { binding in
            object(virtualHost) { json in
                json.member("source", binding.exchange)
                json.member("destination", binding.destination)
                json.member("destination_type", binding.kind.rawValue)
                json.member("routing_key", binding.routingKey)
                json.arguments("arguments", binding.arguments)
            }
        }
        let wanted = includesPolicies ? version.map { topology.policies(of: $0) } ?? [] : []
        let policies = wanted.map { policy in
            object(virtualHost) { json in
                json.member("name", policy.name)
                json.policyMembers(policy)
            }
        }
        let lists = [
            list("exchanges", exchanges), list("queues", queues), list("bindings", bindings),
            list("policies", policies),
        ]
        return "{\n" + lists.joined(separator: ",\n") + "\n}\n"
    }

    private static func list(_ name: String, _ lines: [String]) -> String {
        "  \"\(name)\": [" + (lines.isEmpty ? "" : "\n    " + lines.joined(separator: ",\n    ") + "\n  ") + "]"
    }

    private static func object(_ virtualHost: String, _ members: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("vhost", virtualHost)
        members(&json)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
