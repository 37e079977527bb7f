import BrokerTopology
import CommandKit
import Configuration

/// Prints the topology in one of the forms that a broker, or whoever manages it, takes. Connects to nothing.
struct TopologyPrintCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["topology", "print"],
        summary: "Show the exchanges, queues and bindings, without connecting.",
        discussion: """
            As a table, or as what declares them without martlet: a definitions file, a script of rabbitmqctl, or objects of
            the messaging topology operator. The last two say what each user may do; no password is read, but one in amqp.url, or written. --broker
            adds what turns off the delivery limit of RabbitMQ 4.0 and later, which takes a message out of a queue that was
            returned 20 times.
            """,
        options: [
            .config(), .prefix,
            OptionSyntax(
                name: "format", value: "FORMAT", help: "table (default), definitions, rabbitmqctl, kubernetes"),
            OptionSyntax(name: "broker", value: "VERSION", help: "the broker's version: 3.10, 3.13, 4.0, 4.3"),
            OptionSyntax(name: "cluster", value: "NAME", help: "of Kubernetes: the RabbitmqCluster; default rabbitmq"),
            OptionSyntax(name: "json", help: "the same as --format definitions"),
        ])

    enum Format: String, CaseIterable, Sendable {
        case table
        case definitions
        case rabbitmqctl
        case kubernetes

        /// Whether it says what each user may do.
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
        /// nil: only what every version takes.
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
            Terminal.error.line("martlet: amqp.username cannot be read here: \(user) stands for it")
        }
        if options.version == nil, options.format != .table {
            Terminal.error.line(
                "martlet: without --broker nothing turns off the delivery limit of RabbitMQ 4: --broker 4.0")
        }
        return .success
    }
}

extension TopologyPrintCommand.Options {
    init(_ parsed: ParsedArguments) throws(UsageError) {
        broker = try BrokerOptions(parsed)
        if let text = parsed.options["format"] {
            guard let format = TopologyPrintCommand.Format(rawValue: text) else {
                let formats = TopologyPrintCommand.Format.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("option --format takes one of \(formats), not '\(text)'")
            }
            self.format = format
        } else if parsed.has("json") {
            format = .definitions
        }
        if parsed.has("json"), format != .definitions { throw UsageError("option --json is --format definitions") }
        if let text = parsed.options["broker"] {
            guard let version = BrokerVersion(text) else {
                throw UsageError("option --broker takes a version such as 3.10, 3.13, 4.0 or 4.3, not '\(text)'")
            }
            self.version = version
        }
        cluster = parsed.options["cluster"] ?? cluster
    }
}
