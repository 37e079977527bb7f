import AMQP
import EventLoop

/// What is left to do for a delivery while the broker is to confirm something of it.
struct Settlement {
    /// What goes on with it.
    let goOn: Continuation
    let verdict: Verdict
    /// What it is remembered by; nil for a copy, for what cannot be read, and for what ends in the quarantine.
    let key: DeduplicationKey?
    /// What is being published.
    var part: Part
    var begunAt: MonotonicTime
    /// As far as there was one.
    var deadLetterEnd = RetryResult.confirmed

    typealias Continuation = (PublishOutcome, consuming Settlement, DeliveryRecord) -> Void

    enum Part {
        case deadLetter
        /// The result, or the request that comes back.
        case last
    }
}
