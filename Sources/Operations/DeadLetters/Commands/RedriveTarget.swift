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
            let word = options.action == .redrive ? options.source.resendWord : options.action.rawValue
            let command = task.commands.completed("\(options.source.command) \(word)")
            return "\(command) --to \(Shell.word(queue)) \(Shell.operand(id))"
        }
        return "its request queue is unknown or not configured: run \(commands.joined(separator: ", or "))"
    }
}
