/// The names of the headers that a worker or `martlet dead-letters` writes. A worker reads some of these headers when a
/// request returns. No name begins with `x-`, unlike the names of some headers of the broker.
package enum MessageHeaderName {
    /// The number of attempts: pushes that APNs processed or may have processed.
    package static let attempt = "push-attempt"
    /// The number of rounds (`Attempts.rounds`): waits, returns to the queue after a chunk, moves to the quarantine,
    /// and redrives of dead letters.
    package static let rounds = "push-retry-rounds"
    /// The id of the last round.
    package static let waitID = "push-wait-id"
    /// The wait id before the move to the quarantine.
    package static let waitIDBefore = "push-wait-id-before"
    /// The number of failed deliveries before the move to the quarantine.
    package static let deliveriesBefore = "push-deliveries-before"
    /// The number of rounds in which the request was held (`Attempts.holds`).
    package static let holds = "push-hold-rounds"
    package static let heldSince = "push-held-since"
    package static let firstTriedAt = "push-first-tried-at"
    package static let possibleDuplicate = "push-possible-duplicate"
    /// The end of the time to live of the request, in UNIX milliseconds. The property `expiration` is lost
    /// in a wait.
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
    /// The AMQP property `priority` of a waiting request. On RabbitMQ 4, priorities inside a wait queue would let
    /// messages with a higher priority starve the others.
    package static let priority = "push-priority"
    /// The UUID that `martlet dead-letters` derives from the dead letter that it redrives. The last 32 bits of the UUID
    /// are the wait id.
    package static let redrive = "push-redrive"
    /// The message-id of the dead letter whose body an operator corrected.
    package static let editedFrom = "push-edited-from"
    /// The id of the request to users of which the request is a child. `FanoutOrigin` describes this header and the
    /// eight headers below.
    package static let requestID = "push-request-id"
    package static let user = "push-user"
    package static let otherOwners = "push-other-owners"
    package static let registration = "push-registration"
    package static let registeredAt = "push-registered-at"
    package static let expandedAt = "push-expanded-at"
    package static let onlyDevice = "push-only-device"
    package static let tokenKind = "push-token-kind"
    package static let scope = "push-scope"
    /// The progress of the expansion of a request to users. `FanoutCursor` describes the value.
    package static let cursor = "push-cursor"
    /// The earlier rounds of a request. `RequestHistory` describes the value.
    package static let history = "push-history"
    /// The W3C trace context: the worker's span if spans of the delivery are exported, otherwise the producer's
    /// context.
    package static let traceParent = "traceparent"
    package static let traceState = "tracestate"

    /// Returns the value of ``reasonCode`` of a request that waits because a breaker with this code is open.
    package static func heldCode(_ code: String) -> String { heldPrefix + code }

    /// Returns the value of ``reasonCode`` without the mark of a breaker, as in results.
    static func codeWithoutHold(_ code: String) -> String {
        code.hasPrefix(heldPrefix) ? String(code.dropFirst(heldPrefix.count)) : code
    }

    private static let heldPrefix = "held-"

    /// All headers that the worker writes.
    package static let all = singleRound.union([
        attempt, rounds, possibleDuplicate, firstFailedAt, failedAt, apnsID, traceParent, traceState, cursor,
    ]).union(provenance)

    /// The origin and the history of a request. For a child request, also its `FanoutOrigin`. Workers
    /// (``WorkerIdentity``) and commands (``Provenance``) trust these headers only if a worker wrote them.
    package static let provenance: Set<String> = [
        originQueue, originExchange, originRoutingKey, originalMessageID, originalTimestamp, worker, requestID, user,
        otherOwners, registration, registeredAt, expandedAt, onlyDevice, tokenKind, scope, history,
    ]

    /// Headers that a worker sets or omits in each round. A republish never copies them as headers of the producer.
    package static let singleRound: Set<String> = [
        waitID, waitIDBefore, deliveriesBefore, holds, heldSince, expiresAt, firstTriedAt, reasonClass, reasonCode,
        reason, errorPath, outcome, apnsStatus, apnsTimestamp, priority,
    ]

    /// Returns whether the broker writes the header or acts on it. `CC` and `BCC` would route the message to further
    /// queues. Other headers that begin with `x-`, such as `X-Request-ID`, belong to the producer.
    package static func belongsToBroker(_ name: String) -> Bool {
        switch name {
        case "CC", "BCC", "x-death", "x-delivery-count", "x-acquired-count": true
        default: name.hasPrefix("x-first-death-") || name.hasPrefix("x-last-death-")
        }
    }

    /// The maximum length of `push-reason` and `push-error-path`, in bytes of UTF-8.
    package static let textBytesMax = 512
    /// The maximum length of a copied value, such as a message id, an exchange or `traceparent`, in bytes.
    package static let copyBytesMax = 255
    /// The maximum length of `tracestate`, in bytes.
    package static let traceStateBytesMax = 512
}
