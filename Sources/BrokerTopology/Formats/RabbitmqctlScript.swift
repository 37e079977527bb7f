import JSON
import Text

/// The topology as a script for a machine whose `rabbitmqctl` reaches a node. It can run repeatedly.
public enum RabbitmqctlScript {
    /// - Parameters:
    ///   - user: of a worker.
    ///   - version: of the broker; nil: only what every version accepts.
    public static func text(
        _ topology: Topology, virtualHost: String, user: String, version: BrokerVersion?
    ) -> String {
        let definitions = DefinitionsFile.text(
            topology, virtualHost: virtualHost, version: version, includesPolicies: false)
        let policies = version.map { topology.policies(of: $0) } ?? []
        var lines = [
            "#!/bin/sh",
            "# Exchanges, queues and bindings of Martlet, and what versions of RabbitMQ need besides.",
            "set -eu",
            "definitions=$(mktemp)",
            #"trap 'rm -f "$definitions"' EXIT"#,
            #"cat > "$definitions" << 'END'"#,
            "\(definitions)END",
            "# Where root calls it, rabbitmqctl runs as the user rabbitmq.",
            #"chmod a+r "$definitions""#,
            "# From a file: RabbitMQ 4.0.5 waits forever for standard input (rabbitmq-server#13157).",
            #"rabbitmqctl import_definitions --format json "$definitions""#,
        ]
        lines += policies.map { command($0, virtualHost: virtualHost) }
        lines.append("# What each user needs, and no more: configure, write, read. add_user makes one.")
        for permissions in BrokerPermissions.all(topology, worker: user) {
            lines += ["# \(permissions.purpose):", "# " + command(permissions, virtualHost: virtualHost)]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the command that sets a policy.
    public static func command(_ policy: Topology.Policy, virtualHost: String) -> String {
        "rabbitmqctl set_policy -p \(Shell.quoted(virtualHost)) --apply-to queues --priority \(policy.priority) "
            + "\(Shell.quoted(policy.name)) \(Shell.quoted(policy.pattern)) \(Shell.quoted(definition(policy)))"
    }

    /// Returns the command that sets permissions.
    public static func command(_ permissions: BrokerPermissions, virtualHost: String) -> String {
        (["rabbitmqctl set_permissions -p"]
            + [virtualHost, permissions.user, permissions.configure, permissions.write, permissions.read].map {
                Shell.quoted($0)
            })
            .joined(separator: " ")
    }

    private static func definition(_ policy: Topology.Policy) -> String {
        var json = JSONWriter()
        json.object(policy.definition)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
