import EventLoop

/// The number of deliveries in flight.
///
/// Loop-bound.
final class InFlightDeliveries {
    private(set) var count = 0
    /// The waits that end when the last delivery in flight ends, when a drain begins, and when the lane ends.
    let idle = ContinuationList<Void>()

    func begin() { count += 1 }

    func end() {
        count -= 1
        resumeIfIdle()
    }

    func resumeIfIdle() {
        if count == 0 { idle.resume(returning: ()) }
    }
}
