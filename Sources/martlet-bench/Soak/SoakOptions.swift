import CommandKit

/// What the command line asks for.
struct SoakOptions {
    var minutes = 60.0
    /// How long the faults of one phase stay in force.
    var phaseSeconds = 10
    /// Whether it is the worker's memory that is followed, not the simulator's.
    var isOfWorker = false
    /// Of the worker.
    var messages = 1_000_000
    /// Of the worker, until its memory is looked at again.
    var messagesPerRound = 25_000
    /// Whether it fails when memory grows; too short a time says nothing.
    var judges = true

    init() {}

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("quick") {
            (minutes, phaseSeconds, judges) = (0.2, 1, false)
            (messages, messagesPerRound) = (5000, 500)
        }
        if let minutes = try parsed.integer("minutes", upTo: 10_000) { self.minutes = Double(minutes) }
        isOfWorker = parsed.has("worker")
        messages = try parsed.integer("messages", in: 250_000...100_000_000) ?? messages
    }
}
