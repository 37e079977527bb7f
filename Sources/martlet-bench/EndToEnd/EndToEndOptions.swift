/// What the command line asks for.
struct EndToEndOptions {
    var messages = 100_000
    var samples = 5
    var warmUp = 10_000
    var inFlight = 1000
    var wantsJSON = false

    init(_ arguments: ArraySlice<String>) throws(UsageError) {
        var arguments = Arguments(arguments)
        while let argument = arguments.next() {
            switch argument {
            case "--messages": messages = try arguments.number(for: argument, in: 1...10_000_000)
            case "--samples": samples = try arguments.number(for: argument, in: 1...1000)
            case "--warm-up": warmUp = try arguments.number(for: argument, in: 0...1_000_000)
            case "--in-flight": inFlight = try arguments.number(for: argument, in: 1...65535)
            case "--quick": (messages, samples, warmUp) = (10_000, 1, 2000)
            case "--json": wantsJSON = true
            default: throw UsageError(message: "what is \(argument)?")
            }
        }
    }
}
