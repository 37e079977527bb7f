import Delivery
import JSON

/// The topology, and who may do what with it, as objects of RabbitMQ's messaging topology operator
/// (https://www.rabbitmq.com/kubernetes/operator/using-topology-operator), for `kubectl apply -f -`.
struct KubernetesObjects {
    /// What a label of Kubernetes leaves room for, with a number behind it.
    private static let nameLengthMax = 230

    /// The `RabbitmqCluster` that they belong to.
    let cluster: String
    let virtualHost: String
    private var names: Set<String> = []
    private var objects: [String] = []

    init(cluster: String, virtualHost: String) {
        self.cluster = cluster
        self.virtualHost = virtualHost
    }

    static func text(
        _ topology: Topology, virtualHost: String, user: String, cluster: String, version: BrokerVersion?
    ) -> String {
        var made = KubernetesObjects(cluster: cluster, virtualHost: virtualHost)
        for exchange in topology.exchanges {
            made.add("Exchange", exchange.name) { json in
                json.member("name", exchange.name)
                json.member("type", exchange.kind.rawValue)
                json.member("durable", true)
                json.arguments("arguments", exchange.arguments)
            }
        }
        // Without the argument against the delivery limit, which cannot be added to a queue that an object made before.
        for queue in topology.queues {
            made.add("Queue", queue.name) { json in
                json.member("name", queue.name)
                // The operator makes the argument of it.
                json.member("type", "quorum")
                json.member("durable", true)
                json.arguments("arguments", queue.arguments.filter { $0.name != "x-queue-type" })
            }
        }
        for binding in topology.bindings {
            made.add("Binding", "\(binding.destination)-to-\(binding.exchange)") { json in
                json.member("source", binding.exchange)
                json.member("destination", binding.destination)
                json.member("destinationType", binding.kind.rawValue)
                json.member("routingKey", binding.routingKey)
                if !binding.arguments.isEmpty { json.arguments("arguments", binding.arguments) }
            }
        }
        for policy in version.map({ topology.policies(of: $0) }) ?? [] {
            made.add("Policy", policy.name) { json in
                json.member("name", policy.name)
                json.member("pattern", policy.pattern)
                json.member("applyTo", "queues")
                json.member("priority", policy.priority)
                json.arguments("definition", policy.definition)
            }
        }
        for role in BrokerRole.all(topology, worker: user) { made.add(role) }
        return made.objects.joined(separator: "---\n")
    }

    /// A user whose name and password the operator makes, and keeps in a secret.
    private mutating func add(_ role: BrokerRole) {
        let label = addObject("User", role.user) { _ in }
        add("Permission", role.user) { json in
            json.beginObject("userReference")
            json.member("name", label)
            json.endObject()
            json.beginObject("permissions")
            json.member("configure", role.configure)
            json.member("write", role.write)
            json.member("read", role.read)
            json.endObject()
        }
    }

    /// Of a virtual host.
    private mutating func add(_ kind: String, _ name: String, _ members: (inout JSONWriter) -> Void) {
        let virtualHost = virtualHost
        addObject(kind, name) { json in
            json.member("vhost", virtualHost)
            members(&json)
        }
    }

    /// YAML whose values are JSON, so that nothing in a name means anything to YAML.
    ///
    /// - Returns: its name in Kubernetes.
    @discardableResult private mutating func addObject(
        _ kind: String, _ name: String, _ members: (inout JSONWriter) -> Void
    ) -> String {
        let label = label(kind, name)
        var spec = JSONWriter()
        spec.beginObject()
        members(&spec)
        spec.beginObject("rabbitmqClusterReference")
        spec.member("name", cluster)
        spec.endObject()
        spec.endObject()
        objects.append(
            """
            apiVersion: rabbitmq.com/v1beta1
            kind: \(kind)
            metadata:
              name: \(label)
            spec: \(String(decoding: spec.bytes, as: UTF8.self))

            """)
        return label
    }

    /// A name that Kubernetes takes (RFC 1123) and no other object of the kind has.
    private mutating func label(_ kind: String, _ name: String) -> String {
        var label = String(
            name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }.prefix(Self.nameLengthMax))
        while label.first == "-" { label.removeFirst() }
        while label.last == "-" { label.removeLast() }
        if label.isEmpty { label = "queue" }
        var unique = label
        var number = 2
        while !names.insert("\(kind) \(unique)").inserted {
            unique = "\(label)-\(number)"
            number += 1
        }
        return unique
    }
}
