import Actions
import ControlProtocol
import Crypto

/// A running action on the messages of queues. Loop-bound.
final class Publication {
    let job: ActionRunner.Job
    let action: MessageAction
    let run: any QueueRun
    /// The first record of the audit.
    let record: AuditRecord
    /// The watch on the results of the requests that were sent; nil for an action that does not stop itself.
    var results: SentRequestWatch?
    /// The operator that has requested the stop, or the reason of a stop without one; nil without a stop.
    private(set) var stopper: String?

    init(_ job: ActionRunner.Job, _ action: MessageAction, _ run: any QueueRun, _ record: AuditRecord) {
        (self.job, self.action, self.run, self.record) = (job, action, run, record)
    }

    /// - Parameter stopper: the operator, or the reason.
    func stop(_ stopper: String) {
        guard self.stopper == nil else { return }
        self.stopper = stopper
        run.stop(nil)
    }

    var progress: ActionTable.Progress {
        ActionTable.Progress(done: run.done, total: job.plan.count ?? 0, ids: run.ids)
    }
}
