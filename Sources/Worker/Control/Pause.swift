import ControlProtocol
import Delivery
import EventLoop

/// One pause of a worker.
struct Pause: Sendable {
    var scope: PauseScope
    var note: PauseNote
    var since: MonotonicTime

    func report(at now: MonotonicTime) -> PauseReport {
        PauseReport(target: scope.description, note: note, seconds: Int(since.duration(to: now).components.seconds))
    }
}
