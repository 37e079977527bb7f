import Delivery

/// Where a dead letter goes back to.
struct RedriveTarget: Sendable {
    let names: TopologyNames
    /// nil: where each came from.
    let queue: String?

    /// nil when that is no queue of requests any more, and there are several.
    func queue(for letter: DeadLetter) -> String? {
        if let queue { return queue }
        if let origin = letter.queue, names.takenQueues.contains(origin) { return origin }
        return names.requestQueues.count == 1 ? names.requestQueues[0] : nil
    }

    /// For an operator, where `queue(for:)` knows none.
    func advice(_ task: DeadLetterTask, id: String) -> String {
        let commands = names.requestQueues.map { queue in
            var options = task.options
            options.target = queue
            if options.action == .import { return options.importCommand(task.commands) }
            let command = task.commands.completed("martlet dead-letters \(options.action.rawValue)")
            return "\(command) --to \(Shell.word(queue)) \(Shell.word(id))"
        }
        return "where it came from is no request queue: run \(commands.joined(separator: ", or "))"
    }
}
