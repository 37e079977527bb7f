import BrokerTopology
import CommandKit
import Configuration
import Text

/// The command that prints the topology as a table or in a format that RabbitMQ tools accept. It does not connect.
struct TopologyPrintCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["topology", "print"],
        summary: "Print the exchanges, queues and bindings without connecting.",
        discussion: """
            Print a table, or a file that declares the topology without martlet: a definitions file, a rabbitmqctl
            script, or objects of the messaging topology operator. The script and the objects contain the permissions of
            each user. No password is printed, and only a password in amqp.url is read. --broker adds the declarations
            that disable the delivery limit of RabbitMQ 4.0 and later, which discards a message after more than 20
            requeues.
            """,
        options: [
            .config(), .prefix,
            OptionSyntax(
                name: "format", value: "FORMAT", help: "table, definitions, rabbitmqctl or kubernetes (default: table)"),
            OptionSyntax(name: "broker", value: "VERSION", help: "broker version, such as 3.10, 3.13, 4.0, 4.3"),
            OptionSyntax(
                name: "cluster", value: "NAME", help: "name of the RabbitmqCluster in Kubernetes (default: rabbitmq)"),
            OptionSyntax(name: "json", help: "the same as --format definitions"),
        ])

    enum Format: String, CaseIterable, Sendable {
        case table
        case definitions
        case rabbitmqctl
        case kubernetes

        /// Whether the format contains user permissions.
        var namesUsers: Bool {
            switch self {
            case .table, .definitions: false
            case .rabbitmqctl, .kubernetes: true
            }
        }
    }

    struct Options: Equatable, Sendable {
        var broker = BrokerOptions()
        var format = Format.table
        /// The broker's version; nil to print only declarations that every version accepts.
        var version: BrokerVersion?
        /// The name of the `RabbitmqCluster` in Kubernetes.
        var cluster = "rabbitmq"
    }

    let options: Options

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try Options(parsed) }

    func execute() throws(ConfigurationError) -> ExitCode {
        let printed = try options.broker.printedTopology()
        let (topology, virtualHost) = (printed.topology, printed.virtualHost)
        let user = printed.user ?? PrintedTopology.defaultUser
        let version = options.version
        let text =
            switch options.format {
            case .table: TopologyReport.table(topology, version: version)
            case .definitions: DefinitionsFile.text(topology, virtualHost: virtualHost, version: version)
            case .rabbitmqctl:
                RabbitmqctlScript.text(topology, virtualHost: virtualHost, user: user, version: version)
            case .kubernetes:
                KubernetesObjects.text(
                    topology, virtualHost: virtualHost, user: user, cluster: options.cluster, version: version)
            }
        guard Terminal.output.write(text) else { return .failed }
        if printed.user == nil, options.format.namesUsers {
            Terminal.error.line("martlet: amqp.username is not available on this machine, using \(user) instead")
        }
        if options.version == nil, options.format != .table {
            Terminal.error.line(
                "martlet: the output keeps the delivery limit of RabbitMQ 4; to disable the limit, pass --broker 4.0")
        }
        return .success
    }
}

extension TopologyPrintCommand.Options {
    init(_ parsed: ParsedArguments) throws(UsageError) {
        broker = try BrokerOptions(parsed)
        if let text = parsed.options["format"] {
            guard let format = TopologyPrintCommand.Format(rawValue: text) else {
                let formats = TopologyPrintCommand.Format.allCases.map(\.rawValue).enumerated(with: "or")
                throw UsageError("option --format: expected \(formats), got '\(text)'")
            }
            self.format = format
        } else if parsed.has("json") {
            format = .definitions
        }
        if parsed.has("json"), format != .definitions {
            throw UsageError("options --json and --format are mutually exclusive")
        }
        if let text = parsed.options["broker"] {
            guard let version = BrokerVersion(text) else {
                throw UsageError("option --broker: expected a version such as 3.10, 3.13, 4.0 or 4.3, got '\(text)'")
            }
            self.version = version
        }
        cluster = parsed.options["cluster"] ?? cluster
    }
}
