import EventLoop

/// Decides when nothing is in transit to a consumer, so that it can be cancelled.
///
/// RabbitMQ's quorum queues take back what is in transit to a consumer when it is cancelled, and count it as a failed
/// delivery (`x-delivery-count`). While acknowledgements are withheld, the broker sends no more than the prefetch.
struct Quiescence {
    /// The broker has nothing to send if nothing has arrived for so long.
    static let quiet = Duration.milliseconds(50)
    /// The longest that acknowledgements are withheld.
    static let longest = Duration.milliseconds(250)

    private let begin: MonotonicTime
    private var lastArrival: MonotonicTime
    /// Deliveries that the broker may still send.
    private var room: Int

    init(room: Int, now: MonotonicTime) {
        (self.room, begin, lastArrival) = (room, now, now)
    }

    /// When it is over if nothing more arrives.
    var endsAt: MonotonicTime { min(lastArrival + Self.quiet, begin + Self.longest) }

    func isOver(now: MonotonicTime) -> Bool { room <= 0 || now >= endsAt }

    mutating func delivered(now: MonotonicTime) {
        room -= 1
        lastArrival = now
    }
}
