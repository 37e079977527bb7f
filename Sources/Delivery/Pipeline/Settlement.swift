import AMQP
import EventLoop

/// The verdict on a delivery while its publishes and their confirms are outstanding.
struct Settlement {
    let verdict: Verdict
    /// Identifies the request in the memory of duplicates; nil for a duplicate, for what cannot be read, and in the
    /// quarantine.
    let key: DeduplicationKey?
    var plan: PublishPlan
    /// When the first message of the plan was published last.
    var publishedAt: MonotonicTime
    /// Set while the first message of the plan is published again.
    var retry: PublishRetry?
    /// Whether a message that would keep the request cannot be published: the broker dead-letters the request itself.
    var mustReject = false
}
