import EventLoop
import HTTP2

/// The request of one stream. The connection uses a slot again for a later stream.
struct RequestSlot {
    enum Stage {
        /// The client is sending the request.
        case arriving
        /// The simulator has not yet answered the request.
        case waiting
        /// The simulator has answered, or reset the stream.
        case answered
    }

    /// nil: the slot is free, or the simulator refused its stream.
    var stream: HTTP2Stream?
    var stage = Stage.arriving
    /// The time at which the request reached ``stage``.
    var since = MonotonicTime(nanoseconds: 0)
    /// The time for which the connection had no stream before this one.
    var idle = Duration.zero
    /// Number of the request in the log.
    var number = 0
    /// Whether the simulator has forgotten its state since the request arrived.
    var isForgotten = false
    /// Position in the queue of delayed answers. nil: the answer is not delayed.
    var ticket: AnswerTicket?

    var isWaiting: Bool { stage == .waiting }
}
