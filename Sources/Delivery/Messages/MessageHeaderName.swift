/// Headers of the messages that the worker publishes, and reads again when a retry comes back. None begins with `x-`:
/// those belong to the broker.
package enum MessageHeaderName {
    /// Tries that APNs has, or may have, processed.
    package static let attempt = "push-attempt"
    /// Trips through a retry queue.
    package static let rounds = "push-retry-rounds"
    package static let possibleDuplicate = "push-possible-duplicate"
    package static let firstFailedAt = "push-first-failed-at"
    package static let failedAt = "push-failed-at"
    package static let reasonClass = "push-reason-class"
    package static let reasonCode = "push-reason-code"
    package static let reason = "push-reason"
    package static let errorPath = "push-error-path"
    package static let outcome = "push-outcome"
    package static let originQueue = "push-origin-queue"
    package static let originExchange = "push-origin-exchange"
    package static let originRoutingKey = "push-origin-routing-key"
    package static let originalMessageID = "push-original-message-id"
    package static let originalTimestamp = "push-original-timestamp"
    package static let apnsStatus = "push-apns-status"
    package static let apnsID = "push-apns-id"
    package static let apnsTimestamp = "push-apns-timestamp"
    package static let worker = "push-worker"
    /// Trace context, copied as it came (W3C).
    package static let traceParent = "traceparent"
    package static let traceState = "tracestate"

    /// Longest text of `push-reason` and `push-error-path`, in bytes of UTF-8.
    package static let textBytesMax = 512
    /// Longest copy of what came from outside: a message id, an exchange, trace context.
    package static let copyBytesMax = 255
}
