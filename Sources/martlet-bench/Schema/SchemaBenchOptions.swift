import CommandKit

/// What the command line asks for.
struct SchemaBenchOptions {
    /// Messages of a batch.
    var messages = 20_000
    /// Batches of a sample, the first of which warms up.
    static let batches = 6
    var samples = 5
    var wantsJSON = false
    /// Only parse and validate so often and end: for a counter of allocations that looks on.
    var rounds: Int?

    init() {}

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("quick") { (messages, samples) = (500, 1) }
        samples = try parsed.integer("samples", upTo: 1000) ?? samples
        wantsJSON = parsed.has("json")
        rounds = try parsed.integer("rounds", in: 0...1_000_000)
    }
}
