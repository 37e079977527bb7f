package import BrokerTopology

/// Where a dead letter goes back to.
package struct RedriveTarget: Sendable {
    package let names: TopologyNames
    /// nil: where each came from.
    package let queue: String?

    package init(names: TopologyNames, queue: String?) {
        self.names = names
        self.queue = queue
    }

    /// nil when that is no queue of requests any more, and there are several.
    package func queue(for letter: DeadLetter) -> String? {
        if let queue { return queue }
        if let origin = letter.queue, names.requestQueuesAndShards.contains(origin) { return origin }
        return names.requestQueues.count == 1 ? names.requestQueues[0] : nil
    }
}
