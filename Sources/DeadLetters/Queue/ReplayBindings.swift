package import BrokerManagement
package import BrokerTopology

/// Decides from the broker's bindings whether results can be replayed without a loss.
package struct ReplayBindings {
    /// Bindings of the exchange for results.
    var ofResults: [Topology.Binding]
    /// Bindings of the exchange for unrouted results.
    var ofUnrouted: [Topology.Binding]

    package init(ofResults: [Topology.Binding], ofUnrouted: [Topology.Binding]) {
        self.ofResults = ofResults
        self.ofUnrouted = ofUnrouted
    }

    /// Why no result must be replayed, with the remedy; nil if results can be replayed.
    package func obstacle(_ names: TopologyNames) -> String? {
        let watching = ofResults.compactMap(\.queue).first { $0.hasPrefix(names.watchQueuePrefix) }
        if let watching {
            return "queue \(watching) of martlet watch or martlet publish --wait would take the results, and is "
                + "deleted with that command: end the command (a killed one keeps its queue for a minute) and run this again"
        }
        guard ofUnrouted.contains(where: { $0.queue == names.unroutedQueue }) else {
            let (queue, exchange) = (names.unroutedQueue, names.unroutedExchange)
            return "queue \(queue) is not bound to exchange \(exchange), so a result without a queue would be lost: "
                + "martlet topology apply"
        }
        return nil
    }
}

extension ReplayBindings {
    package init(_ names: TopologyNames, _ management: ManagementClient) throws(ManagementClient.Failure) {
        ofResults = try management.bindings(from: names.resultsExchange)
        ofUnrouted = try management.bindings(from: names.unroutedExchange)
    }
}
