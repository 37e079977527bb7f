/// The objects of fleet control: the exchanges of operators and workers, and the bindings of the streams.
extension Topology {
    /// Whether operators control all workers through the broker.
    public var hasFleetControl: Bool { fixedQueues.contains(.pauses) }

    /// Whether workers publish a journal.
    public var hasJournal: Bool { fixedQueues.contains(.journal) }

    /// Returns the exchange to which operators publish and the exchange to which workers publish.
    static func fleetExchanges(_ names: TopologyNames) -> [Exchange] {
        [names.controlExchange, names.fleetExchange].map { Exchange(name: $0, kind: .topic, arguments: []) }
    }

    /// Returns the bindings of the streams. Readers of reports bind their own queues to the workers' exchange.
    static func fleetBindings(_ names: TopologyNames, hasJournal: Bool) -> [Binding] {
        [(names.pausesStream, "pauses"), (names.commandsStream, "command.#"), (names.commandsStream, "audit.#")]
            .map { Binding(queue: $0, exchange: names.controlExchange, routingKey: $1) }
            + (hasJournal
                ? [Binding(queue: names.journalStream, exchange: names.fleetExchange, routingKey: "journal.#")] : [])
    }
}
