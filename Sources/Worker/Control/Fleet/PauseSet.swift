import ControlProtocol
import Delivery
import EventLoop

/// The pauses of a worker. They are those of its operators, which end with the process at the latest, and those of the
/// fleet. A scope is paused while either pauses it.
struct PauseSet: Sendable {
    enum Owner: CaseIterable, Sendable {
        /// An operator of this worker, through the control socket or a command.
        case worker
        /// The newest record of pauses.
        case fleet
    }

    /// The effect of a change.
    struct Effect: Sendable {
        /// The owner's previous pause of the scope.
        var former: Pause?
        /// Whether the owner's pause began or ended.
        var hasChanged: Bool
        /// Whether the scope is now paused.
        var isPaused: Bool
        /// Whether `isPaused` has changed, so that the lanes must pause or resume the scope.
        var affectsLanes: Bool
    }

    private var pausesByOwner: [Owner: [Pause]] = [:]

    /// Pauses or resumes a scope for one owner. A repeated pause keeps its start. A repeated pause of the worker also
    /// keeps its note. For a repeated pause of the fleet, the note and the end are replaced.
    ///
    /// - Parameters:
    ///   - note: the operator and reason of a pause; nil to resume.
    ///   - until: the planned end of a pause, in UNIX milliseconds.
    mutating func set(
        _ scope: PauseScope, _ note: PauseNote?, by owner: Owner, at now: MonotonicTime, until: Int64? = nil
    ) -> Effect {
        let wasPaused = isPaused(scope)
        var pauses = pausesByOwner[owner] ?? []
        let known = pauses.firstIndex { $0.scope == scope }
        let former = known.map { pauses[$0] }
        switch (known, note) {
        case (nil, let note?): pauses.append(Pause(scope: scope, note: note, since: now, until: until))
        case (let known?, nil): pauses.remove(at: known)
        case (let known?, let note?): if owner == .fleet { (pauses[known].note, pauses[known].until) = (note, until) }
        case (nil, nil): break
        }
        pausesByOwner[owner] = pauses
        let isPaused = isPaused(scope)
        return Effect(
            former: former, hasChanged: (former != nil) != (note != nil), isPaused: isPaused,
            affectsLanes: isPaused != wasPaused)
    }

    func isPaused(_ scope: PauseScope) -> Bool { all.contains { $0.scope == scope } }

    /// The pauses of one owner, in the order of their addition.
    func pauses(of owner: Owner) -> [Pause] { pausesByOwner[owner] ?? [] }

    /// The pauses of the worker's operators, then those of the fleet. A scope that both pause occurs twice.
    var all: [Pause] { Owner.allCases.flatMap { pauses(of: $0) } }

    /// The paused scopes, each once.
    var scopes: [PauseScope] { all.map(\.scope).reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
