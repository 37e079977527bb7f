import CommandKit

struct SchemaBenchOptions {
    /// The number of requests per batch.
    var messages = 20_000
    /// The number of batches per sample. The first batch is a warm-up.
    static let batches = 6
    var samples = 5
    var wantsJSON = false
    /// The number of repetitions of parsing and validation, without a report; nil to measure and report.
    ///
    /// valgrind counts the allocations of a process that runs with this option.
    var rounds: Int?

    init() {}

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("quick") { (messages, samples) = (500, 1) }
        samples = try parsed.integer("samples", upTo: 1000) ?? samples
        wantsJSON = parsed.has("json")
        rounds = try parsed.integer("rounds", in: 0...1_000_000)
    }
}
