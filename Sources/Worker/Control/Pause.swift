import ControlProtocol
import Delivery
import EventLoop

/// An operator's pause of a worker, or of a part of it.
struct Pause: Sendable {
    var scope: PauseScope
    var note: PauseNote
    var since: MonotonicTime

    func report(at now: MonotonicTime, isOfFleet: Bool = false) -> PauseReport {
        PauseReport(
            target: scope.description, note: note, seconds: Int(since.duration(to: now).components.seconds),
            isOfFleet: isOfFleet)
    }
}
