import JSON

/// The topology and its users as objects of RabbitMQ's messaging topology operator
/// (https://www.rabbitmq.com/kubernetes/operator/using-topology-operator), for `kubectl apply -f -`.
public struct KubernetesObjects {
    /// The maximum length of an object's name in Kubernetes, in characters, without the number that makes the name
    /// unique. Kubernetes allows 253 characters.
    private static let nameLengthMax = 230

    private let cluster: String
    private let virtualHost: String
    private var names: Set<String> = []
    private var objects: [String] = []

    private init(cluster: String, virtualHost: String) {
        self.cluster = cluster
        self.virtualHost = virtualHost
    }

    /// Returns all objects as YAML documents.
    ///
    /// - Parameters:
    ///   - user: the user of a worker.
    ///   - cluster: the `RabbitmqCluster` to which the objects belong.
    ///   - version: the broker's version; nil to include only objects that every version accepts.
    public static func text(
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
        // Omit the argument that turns off the delivery limit, because it cannot be added to an existing queue.
        for queue in topology.queues {
            made.add("Queue", queue.name) { json in
                json.member("name", queue.name)
                // The messaging topology operator converts the type to the argument `x-queue-type`.
                json.member("type", queue.isStream ? "stream" : "quorum")
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
        for permissions in BrokerPermissions.all(topology, worker: user) { made.add(permissions) }
        return made.objects.joined(separator: "---\n")
    }

    /// Adds a user and its permissions. The messaging topology operator generates the name and password and stores them
    /// in a secret.
    private mutating func add(_ permissions: BrokerPermissions) {
        let label = addObject("User", permissions.user) { _ in }
        for topic in permissions.topics {
            add("TopicPermission", "\(permissions.user)-to-\(topic.exchange)") { json in
                json.beginObject("userReference")
                json.member("name", label)
                json.endObject()
                json.beginObject("permissions")
                json.member("exchange", topic.exchange)
                json.member("write", topic.write)
                json.member("read", topic.read)
                json.endObject()
            }
        }
        add("Permission", permissions.user) { json in
            json.beginObject("userReference")
            json.member("name", label)
            json.endObject()
            json.beginObject("permissions")
            json.member("configure", permissions.configure)
            json.member("write", permissions.write)
            json.member("read", permissions.read)
            json.endObject()
        }
    }

    /// Adds an object of the virtual host.
    private mutating func add(_ kind: String, _ name: String, _ members: (inout JSONWriter) -> Void) {
        let virtualHost = virtualHost
        addObject(kind, name) { json in
            json.member("vhost", virtualHost)
            members(&json)
        }
    }

    /// Adds an object as YAML with JSON values, so that YAML does not interpret names.
    ///
    /// - Returns: the object's name in Kubernetes.
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

    /// Returns a name that Kubernetes accepts (RFC 1123) and that is unique among the objects of the kind.
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
