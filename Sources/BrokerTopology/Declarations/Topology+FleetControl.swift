/// The objects of fleet control: the exchanges of operators and workers, and the bindings of the streams.
extension Topology {
    /// Whether operators control all workers through the broker.
    public var hasFleetControl: Bool { fixedQueues.contains(.pauses) }

    /// Returns the exchange to which operators publish and the exchange to which workers publish.
    static func fleetExchanges(_ names: TopologyNames) -> [Exchange] {
        [names.controlExchange, names.fleetExchange].map { Exchange(name: $0, kind: .topic, arguments: []) }
    }

    /// Returns the bindings of the streams. Readers of the workers' exchange bind their own queues.
    static func fleetBindings(_ names: TopologyNames) -> [Binding] {
        [(names.pausesStream, "pauses"), (names.commandsStream, "command.#"), (names.commandsStream, "audit.#")]
            .map { Binding(queue: $0, exchange: names.controlExchange, routingKey: $1) }
    }
}
