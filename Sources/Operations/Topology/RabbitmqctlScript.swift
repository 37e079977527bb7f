import Delivery
import JSON

/// The topology as a script for where `rabbitmqctl` reaches a node. It can be run again.
enum RabbitmqctlScript {
    static func text(
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
        for role in BrokerRole.all(topology, worker: user) {
            lines += ["# \(role.purpose):", "# " + command(role, virtualHost: virtualHost)]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Sets a policy.
    static func command(_ policy: Topology.Policy, virtualHost: String) -> String {
        "rabbitmqctl set_policy -p \(Shell.quoted(virtualHost)) --apply-to queues --priority \(policy.priority) "
            + "\(Shell.quoted(policy.name)) \(Shell.quoted(policy.pattern)) \(Shell.quoted(definition(policy)))"
    }

    /// Gives permissions.
    static func command(_ role: BrokerRole, virtualHost: String) -> String {
        (["rabbitmqctl set_permissions -p"]
            + [virtualHost, role.user, role.configure, role.write, role.read].map { Shell.quoted($0) })
            .joined(separator: " ")
    }

    private static func definition(_ policy: Topology.Policy) -> String {
        var json = JSONWriter()
        json.beginObject()
        for argument in policy.definition {
            json.key(argument.name)
            switch argument.value {
            case .text(let text): json.string(text)
            case .integer(let number): json.int(number)
            case .boolean(let flag): json.bool(flag)
            }
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
