import Delivery
import EventLoop

/// A reporter that posts the reports of a lane to the control loop, where the group of the lane records them. Only
/// the lane's thread uses the reporter.
struct LaneReporter: Sendable {
    let lane: Int
    let group: LaneGroup
    let loop: EventLoop
    let handler: RolloutHandler

    func stateChanged(_ state: LaneState) { post { $0.laneChanged(lane, state) } }

    func stoppedConsuming() { post { $0.laneStopped(lane) } }

    func drained(unfinished: Int) { post { $0.laneDrained(lane, unfinished: unfinished) } }

    /// Reports the end of the lane. No report follows.
    func ended() { post { $0.laneEnded(lane) } }

    private func post(_ record: @escaping @Sendable (LaneGroup) -> [WorkerRollout.Event]) {
        loop.post { for event in record(group) { handler.handle(event) } }
    }
}
