import CommandKit

/// The options of `history` and `console`.
struct ConsoleOptions {
    static let rowsMax = 100_000_000
    static let secondsMax = 3600
    /// Rows per second that are indexed while the API answers.
    static let indexedPerSecond = 10_000

    /// The number of results in the history at the start.
    var rows = 500_000
    /// The duration of each measurement at the broker.
    var seconds = 10
    /// The number of simulated workers.
    var workers = 200
    /// The number of requests of each sample of a worker with and without a journal. In a short sample, the start of the
    /// journal's connection counts as a cost of the results.
    var messages = 200_000
    var samples = 3
    var wantsJSON = false
    /// Whether the benchmark fails if a goal is not met; false with `--quick`.
    var enforcesGoals = true

    init() {}

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("quick") {
            (rows, seconds, workers, messages, samples, enforcesGoals) = (10_000, 1, 5, 1000, 1, false)
        }
        rows = try parsed.integer("rows", in: 1000...Self.rowsMax) ?? rows
        seconds = try parsed.integer("seconds", upTo: Self.secondsMax) ?? seconds
        workers = try parsed.integer("workers", upTo: 1000) ?? workers
        messages = try parsed.integer("messages", in: 1000...1_000_000) ?? messages
        samples = try parsed.integer("samples", upTo: 1000) ?? samples
        wantsJSON = parsed.has("json")
    }

    static let rowsOption = OptionSyntax(
        name: "rows", value: "N", help: "results in the history (\(ConsoleOptions().rows))")
}
