import CommandKit
import Configuration

/// The command that declares the topology at the broker.
struct TopologyApplyCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["topology", "apply"],
        summary: "Declare the exchanges, queues and bindings at the broker.",
        discussion: """
            Declare missing objects and leave existing objects unchanged. The command may be repeated. An object that
            exists with other arguments is an error, because a broker cannot change the arguments: delete the object,
            then run the command again. If several request queues are configured, remove the binding by which one queue
            receives all requests. With --former, remove the binding of a former request queue; if amqp.management_url
            is configured, list such bindings. On RabbitMQ 4, new queues have no delivery limit. Existing queues with
            the limit need a policy, which the command sets through amqp.management_url. Without the URL, the command
            prints the rabbitmqctl command and exits with 1; --without-policies skips the policy.
            """,
        options: .broker + [
            OptionSyntax(
                name: "former", value: "QUEUE[=KEY]",
                help: "remove the queue's binding to the request exchange; repeatable",
                repetition: .list),
            OptionSyntax(
                name: "without-policies", help: "do not set the policy that existing queues need on RabbitMQ 4"),
        ])

    struct Options: Equatable, Sendable {
        var broker = BrokerOptions()
        var former: [FormerQueue] = []
        /// Whether to set policies. If false, another tool manages them.
        var setsPolicies = true
    }

    /// A request queue of an earlier configuration.
    struct FormerQueue: Equatable, Sendable {
        var name: String
        /// The routing key; nil for the last word of the queue's name.
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
