import AMQP
import Delivery

/// Prints the topology in one of the forms that a broker, or whoever manages it, takes. Connects to nothing.
struct TopologyPrintCommand {
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

    let options: Invocation.TopologyPrintOptions

    func run() throws(ConfigurationError) -> ExitCode {
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

extension Invocation {
    struct TopologyPrintOptions: Equatable, Sendable {
        var broker = Broker()
        var format = TopologyPrintCommand.Format.table
        /// nil: what every version takes.
        var version: BrokerVersion?
        /// Of Kubernetes.
        var cluster = "rabbitmq"
    }
}

extension Invocation.TopologyPrintOptions {
    init(_ parsed: ParsedArguments) throws(UsageError) {
        broker = try Invocation.Broker(parsed)
        if let text = parsed.options["format"] {
            guard let format = TopologyPrintCommand.Format(rawValue: text) else {
                let formats = TopologyPrintCommand.Format.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError(
                    message: "option --format takes one of \(formats), not '\(text)'", command: parsed.command)
            }
            self.format = format
        } else if parsed.options["json"] != nil {
            format = .definitions
        }
        if parsed.options["json"] != nil, format != .definitions {
            throw UsageError(message: "option --json is --format definitions", command: parsed.command)
        }
        if let text = parsed.options["broker"] {
            guard let version = BrokerVersion(text) else {
                throw UsageError(
                    message: "option --broker takes a version such as 3.10, 3.13, 4.0 or 4.3, not '\(text)'",
                    command: parsed.command)
            }
            self.version = version
        }
        cluster = parsed.options["cluster"] ?? cluster
    }
}
