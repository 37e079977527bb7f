import AdminHTTP
import Configuration
import ControlProtocol
import Delivery
import EventLoop
import Telemetry

/// The pauses of this worker's operators and of the fleet. Applies each pause to the lanes. Runs on the control loop.
final class PauseControl {
    private let groups: LaneGroups
    private let loop: EventLoop
    private let log: Log
    private var pauseSet = PauseSet()

    init(_ groups: LaneGroups, in environment: LaneEnvironment) {
        (self.groups, loop, log) = (groups, environment.loop, environment.log)
    }

    /// The pauses that have not ended. A scope that an operator of this worker and the fleet pause occurs twice.
    var pauses: [Pause] { pauseSet.all }

    func reports(at now: MonotonicTime) -> [PauseReport] {
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
        let now = loop.now.monotonic
        let effect = pauseSet.set(scope, note, by: .worker, at: now)
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

    /// Pauses or resumes a scope for the fleet. Does not wait for the lanes. The configuration may lack the scope: a
    /// later one may contain it.
    ///
    /// - Parameter since: the start of a pause.
    func setForFleet(_ scope: PauseScope, _ note: PauseNote?, since: MonotonicTime) {
        let effect = pauseSet.set(scope, note, by: .fleet, at: since)
        if effect.hasChanged {
            log.info(
                note == nil ? .resumed : .paused,
                [
                    .pauseScope: .describing(scope), .pauseBy: note?.by.map { .string($0) },
                    .pauseReason: note?.reason.map { .string($0) },
                ])
        }
        guard effect.affectsLanes else { return }
        for lane in groups.inForce.lanes + (groups.coming?.lanes ?? []) {
            lane.thread?.pause(scope, effect.isPaused) { _ in }
        }
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
