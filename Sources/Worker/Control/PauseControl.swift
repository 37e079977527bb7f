import AdminHTTP
import Configuration
import ControlProtocol
import Delivery
import EventLoop
import Telemetry

/// Pauses and resumes lanes for operators. Runs on the control loop.
final class PauseControl {
    private let groups: LaneGroups
    private let loop: EventLoop
    private let log: Log
    /// Oldest first.
    private(set) var pauses: [Pause] = []

    init(_ groups: LaneGroups, in environment: LaneEnvironment) {
        (self.groups, loop, log) = (groups, environment.loop, environment.log)
    }

    /// Pauses the lanes in force, and the coming ones, which do not answer. Lanes that start later are paused too.
    ///
    /// - Parameter note: nil resumes.
    func set(_ scope: PauseScope, _ note: PauseNote?, _ answer: @escaping (AdminResponse) -> Void) {
        let group = groups.inForce
        guard group.components.lane.contains(scope) else {
            return answer(.error(404, "there is no \(scope) in the configuration"))
        }
        let isPaused = note != nil
        let former = pauses.first { $0.scope == scope }
        let hasChanged = (former != nil) != isPaused
        let now = loop.now.monotonic
        if hasChanged {
            pauses.removeAll { $0.scope == scope }
            if let note { pauses.append(Pause(scope: scope, note: note, since: now)) }
            log.info(isPaused ? .paused : .resumed, [.pauseScope: .describing(scope)])
        }
        for lane in groups.coming?.lanes ?? [] { lane.thread?.pause(scope, isPaused) { _ in } }
        let already = former.map { ", \($0.report(at: now).text)" } ?? ""
        let report: ([Bool?]) -> Void = { [self] answers in
            let verb = isPaused ? "paused" : "resumed"
            let isDone =
                !group.isStarted || answers.indices.allSatisfy { answers[$0] != nil || group.lanes[$0].hasEnded }
            guard isDone else {
                return answer(.error(503, "\(scope) will be \(verb) as soon as lanes turn that do not now"))
            }
            let others = isPaused || pauses.isEmpty ? "" : "; still paused: \(pausesText)"
            let result = hasChanged ? "\(verb) \(scope)" : "\(scope) was \(verb) already\(already)"
            answer(.text(200, "\(result)\(others)\n"))
        }
        LaneQuery.ask(group.responsive, on: loop, { $0.pause(scope, isPaused, $1) }, then: report)
    }

    private var pausesText: String { pauses.map(\.scope.description).joined(separator: ", ") }
}
