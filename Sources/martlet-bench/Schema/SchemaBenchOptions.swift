import CommandKit

/// The options of `schema`.
struct SchemaBenchOptions {
    /// Messages per batch.
    var messages = 20_000
    /// Batches per sample. The first is a warm-up.
    static let batches = 6
    var samples = 5
    var wantsJSON = false
    /// Only parse and validate the message this often. valgrind counts the allocations of that process.
    var rounds: Int?

    init() {}

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("quick") { (messages, samples) = (500, 1) }
        samples = try parsed.integer("samples", upTo: 1000) ?? samples
        wantsJSON = parsed.has("json")
        rounds = try parsed.integer("rounds", in: 0...1_000_000)
    }
}
