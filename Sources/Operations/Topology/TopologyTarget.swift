import AMQP
import Delivery
import EventLoop

/// A topology, and the broker where it is to be.
struct TopologyTarget: Sendable {
    let access: BrokerAccess
    let topology: Topology
    /// nil when the configuration does not say where it is.
    let management: ManagementAccess?
    let virtualHost: String
    /// Completes what an operator is advised to run.
    var commands = CommandAdvice(Invocation.Broker())

    /// By the configuration file or by `--url`.
    ///
    /// - Throws: what is wrong with either.
    init(_ broker: Invocation.Broker) throws(ConfigurationError) {
        access = try broker.access()
        topology = try broker.topology()
        let configuration = try broker.configuration()
        management = ManagementAccess(configuration)
        virtualHost = configuration.url.virtualHost
        commands = CommandAdvice(broker)
    }

    init(access: BrokerAccess, topology: Topology, management: ManagementAccess?, virtualHost: String) {
        self.access = access
        self.topology = topology
        self.management = management
        self.virtualHost = virtualHost
    }

    var advice: TopologyAdvice { TopologyAdvice(virtualHost: virtualHost) }
}

extension Invocation {
    struct TopologyApplyOptions: Equatable, Sendable {
        var broker = Broker()
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
}

extension Invocation.TopologyApplyOptions {
    init(_ parsed: ParsedArguments) throws(UsageError) {
        broker = try Invocation.Broker(parsed)
        setsPolicies = parsed.options["without-policies"] == nil
        former = (parsed.lists["former"] ?? []).map { text in
            guard let equals = text.firstIndex(of: "=") else { return Invocation.FormerQueue(name: text) }
            return Invocation.FormerQueue(
                name: String(text[..<equals]), routingKey: String(text[text.index(after: equals)...]))
        }
    }
}
