import AMQP
import EventLoop

/// The verdict on a delivery while its publishes and their confirms are outstanding.
struct Settlement {
    let verdict: Verdict
    /// The key of the request in the memory of duplicates. nil for a duplicate, an unread or invalid request, and a
    /// request from the queue of expired requests. Also nil for a request to users, whose key is in its expansion.
    let key: DeduplicationKey?
    var plan: PublishPlan
    /// The time at which the first message of the plan was last published.
    var publishedAt: MonotonicTime
    /// The retries of the first message of the plan; nil while its first publish is outstanding.
    var retry: PublishRetry?
    /// Whether a dead letter or republished request cannot be published. The broker then dead-letters the original
    /// request.
    var mustReject = false
}
