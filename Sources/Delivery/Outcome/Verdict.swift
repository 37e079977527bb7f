import BrokerTopology

/// The decision on a delivery.
///
/// `indirect`, so that nearly all deliveries share one reference. A settlement keeps the reference until the broker has
/// confirmed the messages.
indirect enum Verdict: Sendable, Hashable {
    /// A completion of the request with this outcome.
    case conclude(FinalOutcome)
    /// A wait, after which the request returns to its queue.
    case wait(Wait)
    /// A return of the request to the end of its queue, after a part of its children was published. The history is that
    /// of the next delivery.
    case again(Attempts)
    /// A completion of a request to users, all of whose children are published.
    case report
    /// A move of the request to the quarantine.
    case quarantine(waitID: UInt32)
    /// A requeue, which returns the request to its queue immediately. No attempt is counted.
    case requeue

    /// The verdict on a push that APNs accepted with a bare 200. Created once, since nearly every push has this
    /// verdict.
    static let accepted = conclude(
        FinalOutcome(outcome: .accepted, answer: FinalOutcome.Answer(status: 200), tokenState: .valid))

    /// The verdict on a duplicate of an accepted broadcast, which has no device token.
    static let acceptedBroadcast = conclude(FinalOutcome(outcome: .accepted, answer: FinalOutcome.Answer(status: 200)))

    /// The id of the round that a wait or a return to the queue begins; nil for any other verdict.
    var waitID: UInt32? {
        switch self {
        case .wait(let wait): wait.attempts.waitID
        case .again(let attempts): attempts.waitID
        case .conclude, .report, .quarantine, .requeue: nil
        }
    }

    /// Whether APNs accepted the push.
    var isAccepted: Bool {
        if case .conclude(let finalOutcome) = self { finalOutcome.outcome == .accepted } else { false }
    }
}

/// A wait of a request in a wait queue.
struct Wait: Sendable, Hashable {
    var delay: WaitDelay
    /// The exact time and sibling queue; nil to wait for the delay of the queue.
    var exact: Exact?
    /// The history of the request at its next delivery.
    var attempts: Attempts
    /// The reason code from APNs or the worker, for operators who inspect the wait queues.
    var reason: String

    static func heldCode(_ cause: HoldReason) -> String { MessageHeaderName.heldCode(cause.code) }

    /// The reason code as in results, without the mark of a hold.
    var code: String { MessageHeaderName.codeWithoutHold(reason) }

    /// Returns the duration of the wait.
    ///
    /// - Parameter sibling: The index of the sibling queue for a wait that does not specify a sibling.
    func milliseconds(sibling: Int) -> Int64 { exact?.milliseconds ?? delay.milliseconds(sibling: sibling) }

    /// The exact time of a wait, and the sibling queue in which the request waits.
    struct Exact: Sendable, Hashable {
        /// The time; at most the delay of the queue.
        var milliseconds: Int64
        /// The index of the sibling queue of the delay.
        var sibling: Int
    }
}
