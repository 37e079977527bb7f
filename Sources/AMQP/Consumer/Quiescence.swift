import EventLoop

/// The wait that precedes the cancellation of a consumer. The wait ends when no delivery is assumed to be in transit to
/// the consumer, or after `longest`.
///
/// When a consumer is canceled, RabbitMQ's quorum queues requeue the deliveries in transit to the consumer, and count
/// these deliveries as failed (`x-delivery-count`). While acknowledgments are withheld, the broker sends no more
/// deliveries than the prefetch allows.
struct Quiescence {
    /// The time without a delivery after which no delivery is assumed to be in transit.
    static let quiet = Duration.milliseconds(50)
    /// The longest time for which settlements are withheld.
    static let longest = Duration.milliseconds(250)

    private let begin: MonotonicTime
    private var lastArrival: MonotonicTime
    /// The number of deliveries that the broker may still send.
    private var room: Int

    init(room: Int, now: MonotonicTime) {
        (self.room, begin, lastArrival) = (room, now, now)
    }

    /// The time at which the wait is over if no more deliveries arrive.
    var endsAt: MonotonicTime { min(lastArrival + Self.quiet, begin + Self.longest) }

    func isOver(now: MonotonicTime) -> Bool { room <= 0 || now >= endsAt }

    mutating func delivered(now: MonotonicTime) {
        room -= 1
        lastArrival = now
    }
}
