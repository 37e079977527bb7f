import DeadLetters

/// A run of an action that removes messages from queues, for a console. Loop-bound.
package protocol QueueRun: AnyObject, Sendable {
    /// The number of messages that are done.
    var done: Int { get }
    /// The ids of the first requests that were published.
    var ids: [String] { get }
    /// The effect in words.
    var summary: String { get }

    /// Ends the run. Messages whose removal has begun are completed.
    ///
    /// - Parameter problem: the reason, if the run fails; nil for a stop.
    func stop(_ problem: String?)

    /// Runs the action. Returns after the broker has requeued all messages that stay.
    func run() async -> QueueRunEnd
}

/// The end of a ``QueueRun``.
package enum QueueRunEnd: Sendable, Hashable {
    case complete
    case stopped
    case failed(String)
    /// The broker would discard messages after more deliveries.
    case worn(String)

    /// The end of a run with a problem of its scan.
    init(problem: String, of scan: DeadLetterScan) {
        if case .worn = scan.end { self = .worn(problem) } else { self = .failed(problem) }
    }
}
