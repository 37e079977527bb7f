package import BrokerTopology

/// The destination of a redriven dead letter.
package struct RedriveTarget: Sendable {
    package let names: TopologyNames
    /// The target queue; nil for the original queue of each dead letter.
    package let queue: String?

    package init(names: TopologyNames, queue: String?) {
        self.names = names
        self.queue = queue
    }

    /// Returns the target queue. Without a target queue, returns the original queue if it is a request queue, a shard
    /// or the queue of registration commands. Otherwise, returns the only request queue; nil if several exist.
    package func queue(for letter: DeadLetter) -> String? {
        if let queue { return queue }
        if let origin = letter.queue,
            names.requestQueuesAndShards.contains(origin) || origin == names.registrationsQueue
        {
            return origin
        }
        return names.requestQueues.count == 1 ? names.requestQueues[0] : nil
    }
}
