/// Headers of the messages that the worker publishes, and reads again when a retry comes back. None begins with `x-`:
/// those belong to the broker.
enum MessageHeaderName {
    /// Tries that APNs has, or may have, processed.
    static let attempt = "push-attempt"
    /// Trips through a retry queue.
    static let rounds = "push-retry-rounds"
    static let possibleDuplicate = "push-possible-duplicate"
    static let firstFailedAt = "push-first-failed-at"
    static let failedAt = "push-failed-at"
    static let reasonClass = "push-reason-class"
    static let reasonCode = "push-reason-code"
    static let reason = "push-reason"
    static let errorPath = "push-error-path"
    static let outcome = "push-outcome"
    static let originQueue = "push-origin-queue"
    static let originExchange = "push-origin-exchange"
    static let originRoutingKey = "push-origin-routing-key"
    static let originalMessageID = "push-original-message-id"
    static let originalTimestamp = "push-original-timestamp"
    static let apnsStatus = "push-apns-status"
    static let apnsID = "push-apns-id"
    static let apnsTimestamp = "push-apns-timestamp"
    static let worker = "push-worker"
    /// Trace context, copied as it came (W3C).
    static let traceParent = "traceparent"
    static let traceState = "tracestate"

    /// Longest text of `push-reason` and `push-error-path`, in bytes of UTF-8.
    static let textBytesMax = 512
    /// Longest copy of what came from outside: a message id, an exchange, trace context.
    static let copyBytesMax = 255
}
