import BrokerTopology

/// The decision on a delivery. A reference, which nearly all deliveries share: functions pass it on, and a settlement keeps it
/// until the broker has confirmed.
indirect enum Verdict: Sendable, Hashable {
    /// The request ends.
    case conclude(FinalOutcome)
    /// The request returns to its queue after a delay.
    case wait(Wait)
    /// The request moves to the quarantine.
    case quarantine(waitID: UInt32)
    /// The request returns to its queue at once, since the lane ends: no attempt is counted.
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
