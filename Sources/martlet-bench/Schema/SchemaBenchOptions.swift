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

    init(_ arguments: ArraySlice<String>) throws(UsageError) {
        var arguments = Arguments(arguments)
        while let argument = arguments.next() {
            switch argument {
            case "--samples": samples = try arguments.number(for: argument, in: 1...1000)
            case "--quick": (messages, samples) = (500, 1)
            case "--json": wantsJSON = true
            case "--rounds": rounds = try arguments.number(for: argument, in: 0...1_000_000)
            default: throw UsageError(message: "what is \(argument)?")
            }
        }
    }
}
