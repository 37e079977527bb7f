/// Headers of the messages that the worker publishes, and reads again when a message comes back. None begins with `x-`,
/// as some of the broker's do.
package enum MessageHeaderName {
    /// Tries that APNs has, or may have, processed.
    package static let attempt = "push-attempt"
    /// Trips through a wait queue or to the quarantine, and out of the dead letters.
    package static let rounds = "push-retry-rounds"
    /// Names the last of those trips.
    package static let waitID = "push-wait-id"
    /// Named the trip before the move to the quarantine.
    package static let waitIDBefore = "push-wait-id-before"
    /// Deliveries without an end before that move.
    package static let deliveriesBefore = "push-deliveries-before"
    /// Of all trips, the last ones in a row that an open breaker was the reason for.
    package static let holds = "push-hold-rounds"
    package static let heldSince = "push-held-since"
    package static let firstTriedAt = "push-first-tried-at"
    package static let possibleDuplicate = "push-possible-duplicate"
    /// When the time to live of the request ends, in UNIX milliseconds: its property `expiration` does not survive a wait.
    package static let expiresAt = "push-expires-at"
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
    /// The AMQP property `priority` of a request that waits: on RabbitMQ 4 a priority inside a wait queue would let
    /// messages with a higher one starve the others.
    package static let priority = "push-priority"
    /// The dead letter that `martlet dead-letters` made this message from; the low half of its last part is the wait ID.
    package static let redrive = "push-redrive"
    /// The message-id of the dead letter whose body an operator corrected.
    package static let editedFrom = "push-edited-from"
    /// Trace context (W3C): the producer's, or where spans are made, the worker's own below it.
    package static let traceParent = "traceparent"
    package static let traceState = "tracestate"

    /// All of them.
    package static let all = ofOneRound.union([
        attempt, rounds, possibleDuplicate, firstFailedAt, failedAt, apnsID, traceParent, traceState,
    ]).union(provenance)

    /// Where a request came from. These headers are believed only where a worker wrote them (``Provenance``).
    package static let provenance: Set<String> = [
        originQueue, originExchange, originRoutingKey, originalMessageID, originalTimestamp, worker,
    ]

    /// Headers that tell of one try or hold alone.
    package static let ofOneRound: Set<String> = [
        waitID, waitIDBefore, deliveriesBefore, holds, heldSince, expiresAt, firstTriedAt, reasonClass, reasonCode,
        reason, errorPath, outcome, apnsStatus, apnsTimestamp, priority,
    ]

    /// Whether the broker acts on the header (`CC` and `BCC` would route a copy further) or writes it itself. Others that
    /// begin with `x-`, such as `X-Request-ID`, are the producer's.
    package static func belongsToBroker(_ name: String) -> Bool {
        switch name {
        case "CC", "BCC", "x-death", "x-delivery-count", "x-acquired-count": true
        default: name.hasPrefix("x-first-death-") || name.hasPrefix("x-last-death-")
        }
    }

    /// Longest text of `push-reason` and `push-error-path`, in bytes of UTF-8.
    package static let textBytesMax = 512
    /// Longest copy of what came from outside: a message id, an exchange, `traceparent`.
    package static let copyBytesMax = 255
    /// Bytes of `tracestate`.
    package static let traceStateBytesMax = 512
}
