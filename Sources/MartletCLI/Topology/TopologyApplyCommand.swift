import CommandKit
import Configuration

/// Declares the topology at the broker.
struct TopologyApplyCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["topology", "apply"],
        summary: "Declare the exchanges, queues and bindings at the broker.",
        discussion: """
            Declares what is missing and leaves alone what is there; run it as often as you like. Something that exists
            with other arguments is an error: the broker cannot change it, only delete and declare anew. The binding of all
            requests to one queue is taken away where there are several. Those of queues that are no longer queues of
            requests are taken away when they are named as --former; where amqp.management_url is configured, these are
            listed. On RabbitMQ 4 new queues have no delivery limit. Queues that exist with the limit need a policy, which
            amqp.management_url sets. Without it the rabbitmqctl command is printed and the exit code is 1;
            --without-policies leaves the policy to others.
            """,
        options: .broker + [
            OptionSyntax(
                name: "former", value: "QUEUE[=KEY]",
                help: "take away its binding to the exchange of requests; several are allowed",
                repetition: .list),
            OptionSyntax(name: "without-policies", help: "others set the one that existing queues need on RabbitMQ 4"),
        ])

    struct Options: Equatable, Sendable {
        var broker = BrokerOptions()
        var former: [FormerQueue] = []
        /// Else others do.
        var setsPolicies = true
    }

    /// A queue of requests of an earlier configuration.
    struct FormerQueue: Equatable, Sendable {
        var name: String
        /// nil: the last word of its name.
        var routingKey: String?
    }

    let options: Options

    init(_ parsed: ParsedArguments) throws(UsageError) {
        let former = (parsed.lists["former"] ?? []).map { text in
            guard let equals = text.firstIndex(of: "=") else { return FormerQueue(name: text) }
            return FormerQueue(
                name: String(text[..<equals]), routingKey: String(text[text.index(after: equals)...]))
        }
        options = Options(
            broker: try BrokerOptions(parsed), former: former, setsPolicies: !parsed.has("without-policies"))
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        let session = TopologyApplySession(target: try TopologyTarget(options.broker), options)
        return CommandLoop.run { await session.apply(on: $0) }
    }
}
