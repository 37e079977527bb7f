import AMQP
import Configuration
import ControlProtocol
import Delivery
import Text

/// Possible causes of missing results or replies, derived from the status of queues and workers.
struct MissingResultCauses {
    enum Subject: String {
        /// The results of requests.
        case result
        /// The replies to registration commands.
        case reply
    }

    /// Maximum number of lines. Further lines would hide the first line.
    private static let linesMax = 6

    var subject = Subject.result
    /// The queues in which the requests or commands wait for a worker.
    var queues: [QueueStatus]
    /// Workers of this user on this machine that use the broker and the prefix of the command.
    var workers: [WorkerStatus]
    /// The advice that completes the commands in remedies.
    var commands: CommandAdvice

    /// Lines with one cause each, the most likely first; never empty. Without a known cause, the only line shows the
    /// queues and a command.
    var lines: [String] {
        let causes =
            switch subject {
            case .result: paused + unconsumed + notReady + held
            case .reply: unconsumed + storeless
            }
        guard causes.isEmpty else { return Array(causes.prefix(Self.linesMax)) }
        let consumed = queues.map { "\($0.name): \($0.messages) waiting, \($0.consumers.counted("consumer"))" }
        return [(consumed + ["on the workers' machines, run: martlet status"]).joined(separator: "; ")]
    }

    private var unconsumed: [String] {
        queues.filter { $0.consumers == 0 }.map { queue in
            "no worker consumes from \(queue.name) (\(queue.messages) waiting)"
                + (workers.isEmpty ? "; to start a worker, run: \(commands.completed("martlet worker"))" : "")
        }
    }

    private var storeless: [String] {
        workers.flatMap { worker in
            guard let reasons = worker.registrations?.reasons else {
                return [
                    "worker \(worker.worker) stores no registrations: add the section registrations to its configuration"
                ]
            }
            return reasons.map { "worker \(worker.worker): \($0)" }
        }
    }

    private var paused: [String] {
        workers.flatMap { worker in
            worker.scopesAndPauses.map { scope, report in
                let remedy = report?.remedy ?? PauseScope.remedy(of: scope)
                return "worker \(worker.worker) is paused (\(scope)); to resume, run: \(commands.completed(remedy))"
            }
        }
    }

    private var notReady: [String] {
        workers.filter { !$0.isReady }.flatMap { worker in
            worker.reasons.map { "worker \(worker.worker) is not ready: \($0)" }
        }
    }

    private var held: [String] {
        workers.flatMap { worker in
            worker.breakers.map {
                "worker \(worker.worker) holds requests: breaker of \($0.route) open: \($0.sentence)"
            }
        }
    }
}
