import BrokerTopology
import DeadLetters

extension RedriveTarget {
    /// Returns the remedy for a dead letter for which `queue(for:)` returns nil.
    func advice(_ task: DeadLetterTask, id: String) -> String {
        let commands = names.requestQueues.map { queue in
            var options = task.options
            options.target = queue
            if options.action != .import { (options.ids, options.choosesAll, options.limit) = ([id], false, nil) }
            return options.command(task.commands)
        }
        return "the original request queue is unknown or not configured; run: \(commands.joined(separator: ", or: "))"
    }
}
