typealias WorkerRollout = Rollout<PreparedVersion>

/// Receives the events of a rollout on the control loop.
///
/// `@unchecked Sendable`: used on the control loop only.
package class RolloutHandler: @unchecked Sendable {
    func handle(_ event: WorkerRollout.Event) { preconditionFailure("handle(_:) must be overridden") }
}
