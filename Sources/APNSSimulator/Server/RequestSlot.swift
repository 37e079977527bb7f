import EventLoop
import HTTP2

/// The request of one stream. The connection reuses the slot for a later stream.
struct RequestSlot {
    enum Stage {
        /// A request that the client is still sending.
        case arriving
        /// A complete request without an answer.
        case waiting
        /// A request that was answered, or whose stream has ended.
        case answered
    }

    /// The stream; nil if the slot is free or the simulator refused the stream.
    var stream: HTTP2Stream?
    var stage = Stage.arriving
    /// The time at which the request reached ``stage``.
    var since = MonotonicTime(nanoseconds: 0)
    /// The time for which the connection had no stream before this stream.
    var idle = Duration.zero
    /// Number of the request in the log; 0 if the request is not in the log.
    var number = 0
    /// Whether the memory was reset after the request was complete.
    var isForgotten = false
    /// Identifier in the queue of delayed answers; nil if the answer is not delayed.
    var ticket: AnswerTicket?

    var isWaiting: Bool { stage == .waiting }
}
