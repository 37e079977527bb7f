import CommandKit

struct SoakOptions {
    var minutes = 60.0
    /// The duration of a phase.
    var phaseSeconds = 10
    /// Whether to measure a worker instead of the simulator.
    var measuresWorker = false
    /// The number of requests for the worker.
    var messages = 1_000_000
    /// The number of requests between two measurements of the worker's memory.
    var messagesPerRound = 25_000
    /// Whether the limits of the memory growth and of the accepted pushes apply; false with `--quick`.
    var enforcesLimits = true

    init() {}

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("quick") {
            (minutes, phaseSeconds, enforcesLimits) = (0.2, 1, false)
            (messages, messagesPerRound) = (5000, 500)
        }
        if let minutes = try parsed.integer("minutes", upTo: 10_000) { self.minutes = Double(minutes) }
        measuresWorker = parsed.has("worker")
        messages = try parsed.integer("messages", in: 250_000...100_000_000) ?? messages
    }
}
