import AMQP
import Configuration
import ControlProtocol
import Delivery

/// Why results have not come yet, as far as a command can see. Pure.
struct MissingResultCauses {
    /// More lines would hide the first.
    private static let linesMax = 6

    /// Where the requests wait for a worker.
    var queues: [QueueStatus]
    /// Workers on this machine that use the same broker.
    var workers: [WorkerStatus]
    /// Completes remedies.
    var commands: CommandAdvice

    /// One cause a line, the most likely first. Never empty: a command that waits says what it knows.
    var lines: [String] {
        let causes = paused + unconsumed + notReady + held
        guard causes.isEmpty else { return Array(causes.prefix(Self.linesMax)) }
        let consumed = queues.map { "\($0.name): \($0.messages) waiting, \($0.consumers) consumers" }
        return [(consumed + ["run martlet status where the workers run"]).joined(separator: "; ")]
    }

    private var unconsumed: [String] {
        queues.filter { $0.consumers == 0 }.map { queue in
            "no worker consumes from \(queue.name) (\(queue.messages) waiting)"
                + (workers.isEmpty ? "; start one: \(commands.completed("martlet worker"))" : "")
        }
    }

    private var paused: [String] {
        workers.flatMap { worker in
            worker.paused.map { "worker \(worker.worker) is paused (\($0)); run \(PauseScope.remedy(of: $0))" }
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
                "worker \(worker.worker) holds requests, breaker of \($0.route) open: \($0.sentence)"
            }
        }
    }
}
