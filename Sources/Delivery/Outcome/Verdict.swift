/// What follows for a message from what became of its push. A reference: it is handed from function to function and kept
/// while the broker confirms, and is one and the same for nearly every message.
indirect enum Verdict: Sendable, Hashable {
    /// It has ended.
    case conclude(FinalOutcome)
    /// It comes back to its queue after a while.
    case wait(Wait)
    /// It goes back to its queue at once, since this lane ends: no try is counted.
    case requeue

    /// Of nearly every push, made once: APNs has it, and has said no more.
    static let accepted = conclude(
        FinalOutcome(outcome: .accepted, answer: FinalOutcome.Answer(status: 200), tokenState: .valid))

    /// Of the duplicate of a broadcast: no device token has a state.
    static let acceptedBroadcast = conclude(FinalOutcome(outcome: .accepted, answer: FinalOutcome.Answer(status: 200)))

    /// APNs has it.
    var isAccepted: Bool {
        if case .conclude(let finalOutcome) = self { finalOutcome.outcome == .accepted } else { false }
    }
}

/// A message that waits in a queue of its own kind before it comes back.
struct Wait: Sendable, Hashable {
    var delay: WaitDelay
    /// nil: it waits as long as its queue says.
    var exact: Exact?
    /// As they stand before the next try.
    var attempts: Attempts
    /// APNs' reason or ours, for operators who look into the wait queues.
    var reason: String

    /// The reason of what is held up.
    static func heldCode(_ cause: HoldReason) -> String { "held-\(cause.code)" }

    /// It leaves the queue earlier than others.
    struct Exact: Sendable, Hashable {
        /// At most the delay.
        var milliseconds: Int64
        /// Which of the queues of the delay, counted from 0.
        var sibling: Int
    }
}
