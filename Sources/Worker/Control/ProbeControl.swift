import Delivery
import EventLoop

/// The probes of open breakers that operators request. Runs on the control loop.
struct ProbeControl {
    let groups: LaneGroups
    let loop: EventLoop

    /// Probes the open breakers of a scope now, in the lanes in force and in the lanes of the coming generation.
    /// Retired lanes push no new request.
    ///
    /// - Parameter completion: receives the number of breakers that the lanes have probed, and the number of stalled or
    ///   silent lanes. Stalled lanes of the coming generation do not count.
    func probeNow(_ scope: ProbeScope, then completion: @escaping (_ count: Int, _ silentLanes: Int) -> Void) {
        let current = groups.inForce
        let lanes = current.responsive + (groups.coming?.responsive ?? [])
        let silent = current.stalled.count
        let report: ([Int?]) -> Void = { answers in
            let queried = zip(lanes, answers).filter { $0.0 != nil }
            completion(answers.reduce(0) { $0 + ($1 ?? 0) }, silent + queried.count { $0.1 == nil })
        }
        LaneQuery.send(to: lanes, on: loop, { $0.probeNow(scope, $1) }, then: report)
    }
}
