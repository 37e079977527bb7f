import JSON
import Text

/// The topology as a shell script for a machine with `rabbitmqctl` access to a node. The script can run repeatedly.
public enum RabbitmqctlScript {
    /// Returns the script.
    ///
    /// - Parameters:
    ///   - user: the user of a worker.
    ///   - version: the broker's version; nil to include only definitions that every version accepts.
    public static func text(
        _ topology: Topology, virtualHost: String, user: String, version: BrokerVersion?
    ) -> String {
        let definitions = DefinitionsFile.text(
            topology, virtualHost: virtualHost, version: version, includesPolicies: false)
        let policies = version.map { topology.policies(of: $0) } ?? []
        var lines = [
            "#!/bin/sh",
            "# Exchanges, queues and bindings of Martlet, and the policies that RabbitMQ's version needs.",
            "set -eu",
            "definitions=$(mktemp)",
            #"trap 'rm -f "$definitions"' EXIT"#,
            #"cat > "$definitions" << 'END'"#,
            "\(definitions)END",
            "# If root runs rabbitmqctl, rabbitmqctl reads the file as the user rabbitmq.",
            #"chmod a+r "$definitions""#,
            "# Import from a file: RabbitMQ 4.0.5 waits forever for standard input (rabbitmq-server#13157).",
            #"rabbitmqctl import_definitions --format json "$definitions""#,
        ]
        lines += policies.map { command($0, virtualHost: virtualHost) }
        lines.append("# Least permissions of each user: configure, write, read. add_user creates a user.")
        for permissions in BrokerPermissions.all(topology, worker: user) {
            lines.append("# \(permissions.purpose):")
            // A user must not have a permission without its restriction, not even between two commands.
            lines += permissions.topics.map { "# " + command($0, of: permissions.user, virtualHost: virtualHost) }
            lines.append("# " + command(permissions, virtualHost: virtualHost))
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

    /// Returns the command that restricts a user's permissions for an exchange to routing keys.
    private static func command(_ topic: TopicPermission, of user: String, virtualHost: String) -> String {
        (["rabbitmqctl set_topic_permissions -p"]
            + [virtualHost, user, topic.exchange, topic.write, topic.read].map { Shell.quoted($0) })
            .joined(separator: " ")
    }

    private static func definition(_ policy: Topology.Policy) -> String {
        var json = JSONWriter()
        json.object(policy.definition)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
