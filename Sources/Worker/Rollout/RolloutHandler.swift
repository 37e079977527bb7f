typealias WorkerRollout = Rollout<PreparedVersion>

/// The receiver of the events of a rollout on the control loop.
///
/// `@unchecked Sendable`: only the control loop uses the object.
package class RolloutHandler: @unchecked Sendable {
    func handle(_ event: WorkerRollout.Event) { preconditionFailure("handle(_:) must be overridden") }
}
