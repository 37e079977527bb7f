package import BrokerManagement
package import BrokerTopology

/// The bindings that determine whether results can be replayed without loss.
package struct ReplayBindings {
    /// Bindings of the result exchange.
    var ofResults: [Topology.Binding]
    /// Bindings of the exchange for unrouted results.
    var ofUnrouted: [Topology.Binding]

    package init(ofResults: [Topology.Binding], ofUnrouted: [Topology.Binding]) {
        self.ofResults = ofResults
        self.ofUnrouted = ofUnrouted
    }

    /// Returns the reason why results cannot be replayed, with a remedy; nil if they can be replayed.
    package func obstacle(_ names: TopologyNames) -> String? {
        let watching = ofResults.compactMap(\.queue).first { $0.hasPrefix(names.watchQueuePrefix) }
        if let watching {
            return "queue \(watching) of martlet watch or martlet publish --wait would receive the results and is "
                + "deleted with that command: stop the command and try again (after a kill, wait a minute)"
        }
        guard ofUnrouted.contains(where: { $0.queue == names.unroutedQueue }) else {
            let (queue, exchange) = (names.unroutedQueue, names.unroutedExchange)
            return
                "queue \(queue) is not bound to exchange \(exchange), and a result without a bound queue would be lost: "
                + "run martlet topology apply"
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
