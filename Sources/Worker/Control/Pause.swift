import ControlProtocol
import Delivery
import EventLoop

/// An operator's pause of a worker, or of a part of it.
struct Pause: Sendable {
    var scope: PauseScope
    var note: PauseNote
    var since: MonotonicTime
    /// The end of the pause, in UNIX milliseconds; nil for a pause without a planned end.
    var until: Int64?

    func report(at now: Now, isOfFleet: Bool = false) -> PauseReport {
        PauseReport(
            target: scope.description, note: note, seconds: Int(since.duration(to: now.monotonic).components.seconds),
            isOfFleet: isOfFleet, until: until, secondsLeft: until.map { Int(max(0, $0 - now.unixMilliseconds) / 1000) }
        )
    }
}
