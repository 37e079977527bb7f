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

    /// Returns the queue for a dead letter; nil if no target queue is set, the original queue is unknown or neither a
    /// configured request queue nor the queue of registration commands, and several request queues exist.
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
