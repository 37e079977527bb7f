import AdminHTTP
import Configuration
import ControlProtocol
import Delivery
import EventLoop
import Telemetry

/// The pauses of this worker's operators and of the fleet. Applies each pause to the lanes. Runs on the control loop.
///
/// `@unchecked Sendable`: only the control loop uses the object.
final class PauseControl: @unchecked Sendable {
    private struct LaneID: Hashable {
        let group: Int
        let lane: Int
    }

    private let groups: LaneGroups
    private let loop: EventLoop
    private let log: Log
    private var pauseSet = PauseSet()
    /// The lanes that have not yet applied all pauses of the fleet, with their number of outstanding changes.
    private var outstanding: [LaneID: Int] = [:]
    /// Receives `pausesChanged` when no change of the fleet's pauses is outstanding any more.
    weak var fleetHandler: FleetPausesHandler?

    init(_ groups: LaneGroups, in environment: LaneEnvironment) {
        (self.groups, loop, log) = (groups, environment.loop, environment.log)
    }

    /// The pauses that have not ended. A scope that an operator of this worker and the fleet pause occurs twice.
    var pauses: [Pause] { pauseSet.all }

    /// Whether all running lanes that may push new requests have applied the pauses of the fleet.
    var hasAppliedFleetPauses: Bool {
        !current.contains { group in
            group.lanes.indices.contains { lane in
                !group.lanes[lane].hasEnded && outstanding[LaneID(group: group.number, lane: lane)] != nil
            }
        }
    }

    /// The groups that may push new requests.
    private var current: [LaneGroup] { [groups.inForce] + (groups.coming.map { [$0] } ?? []) }

    func reports(at now: Now) -> [PauseReport] {
        PauseSet.Owner.allCases.flatMap { owner in
            pauseSet.pauses(of: owner).map { $0.report(at: now, isOfFleet: owner == .fleet) }
        }
    }

    /// The paused scopes, each once.
    var scopes: [PauseScope] { pauseSet.scopes }

    /// Pauses or resumes a scope on the lanes in force and on the lanes of the coming generation. Waits only for the
    /// lanes in force. Lanes that start during a pause start paused.
    ///
    /// - Parameters:
    ///   - note: the operator and reason of a pause; nil to resume.
    ///   - answer: receives the response to the operator.
    func set(_ scope: PauseScope, _ note: PauseNote?, _ answer: @escaping (AdminResponse) -> Void) {
        let group = groups.inForce
        let isPaused = note != nil
        let (command, verb) = isPaused ? ("pause", "paused") : ("resume", "resumed")
        guard group.components.lane.contains(scope) else {
            return answer(.error(404, "cannot \(command) \(scope): not in the configuration"))
        }
        let now = loop.now
        let effect = pauseSet.set(scope, note, by: .worker, at: now.monotonic)
        if effect.hasChanged { log.info(isPaused ? .paused : .resumed, [.pauseScope: .describing(scope)]) }
        for lane in groups.coming?.lanes ?? [] { lane.thread?.pause(scope, effect.isPaused) { _ in } }
        let already = effect.former.map { ", \($0.report(at: now).text)" } ?? ""
        let report: ([Bool?]) -> Void = { [self] answers in
            let isDone =
                !group.isStarted || answers.indices.allSatisfy { answers[$0] != nil || group.lanes[$0].hasEnded }
            guard isDone else {
                let reason = "a lane is stalled; \(scope) will be \(verb) once the lane makes progress"
                return answer(.error(503, "cannot \(command) \(scope) yet: \(reason)"))
            }
            let others = isPaused || pauses.isEmpty ? "" : "; still paused: \(pausesText)"
            let result = effect.hasChanged ? "\(verb) \(scope)" : "\(scope) was \(verb) already\(already)"
            answer(.text(200, "\(result)\(others)\n"))
        }
        LaneQuery.send(to: group.responsive, on: loop, { $0.pause(scope, effect.isPaused, $1) }, then: report)
    }

    /// Pauses or resumes a scope for the fleet. Does not wait for the lanes. The configuration may lack the scope,
    /// because a later one may contain it.
    ///
    /// - Parameters:
    ///   - since: the start of a pause.
    ///   - until: the planned end of a pause, in UNIX milliseconds.
    func setForFleet(_ scope: PauseScope, _ note: PauseNote?, since: MonotonicTime, until: Int64? = nil) {
        let effect = pauseSet.set(scope, note, by: .fleet, at: since, until: until)
        if effect.hasChanged {
            log.info(
                note == nil ? .resumed : .paused,
                [
                    .pauseScope: .describing(scope), .pauseBy: note?.by.map { .string($0) },
                    .pauseReason: note?.reason.map { .string($0) },
                ])
        }
        guard effect.affectsLanes else { return }
        let numbers = current.map(\.number)
        outstanding = outstanding.filter { numbers.contains($0.key.group) }
        for group in current {
            for (index, lane) in group.lanes.enumerated() {
                guard let thread = lane.thread else { continue }
                let id = LaneID(group: group.number, lane: index)
                outstanding[id, default: 0] += 1
                thread.pause(scope, effect.isPaused) { [self] _ in loop.post { self.fleetPauseApplied(by: id) } }
            }
        }
    }

    private func fleetPauseApplied(by lane: LaneID) {
        guard let count = outstanding[lane] else { return }
        outstanding[lane] = count > 1 ? count - 1 : nil
        if hasAppliedFleetPauses { fleetHandler?.pausesChanged() }
    }

    /// The paused scopes. A command of this worker does not end a pause of the fleet, so its remedy follows.
    private var pausesText: String {
        let fleet = pauseSet.pauses(of: .fleet).map(\.scope)
        return scopes.map { scope in
            guard fleet.contains(scope) else { return scope.description }
            return "\(scope) (run: \(PauseScope.remedy(of: scope.description, isOfFleet: true)))"
        }.joined(separator: ", ")
    }
}
