import BrokerTopology

/// Where a dead letter goes back to.
struct RedriveTarget: Sendable {
    let names: TopologyNames
    /// nil: where each came from.
    let queue: String?

    /// nil when that is no queue of requests any more, and there are several.
    func queue(for letter: DeadLetter) -> String? {
        if let queue { return queue }
        if let origin = letter.queue, names.requestQueuesAndShards.contains(origin) { return origin }
        return names.requestQueues.count == 1 ? names.requestQueues[0] : nil
    }

    /// For an operator, where `queue(for:)` knows none.
    func advice(_ task: DeadLetterTask, id: String) -> String {
        let commands = names.requestQueues.map { queue in
            var options = task.options
            options.target = queue
            if options.action != .import { (options.ids, options.choosesAll, options.limit) = ([id], false, nil) }
            return options.command(task.commands)
        }
        return "its request queue is unknown or not configured: run \(commands.joined(separator: ", or "))"
    }
}
