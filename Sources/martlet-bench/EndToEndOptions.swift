/// What the command line asks for.
struct EndToEndOptions {
    var messages = 100_000
    var samples = 5
    var warmUp = 10_000
    var inFlight = 1000
    var wantsJSON = false

    init(_ arguments: ArraySlice<String>) throws(UsageError) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--messages": messages = try Self.number(argument, &rest, 1...10_000_000)
            case "--samples": samples = try Self.number(argument, &rest, 1...1000)
            case "--warm-up": warmUp = try Self.number(argument, &rest, 0...1_000_000)
            case "--in-flight": inFlight = try Self.number(argument, &rest, 1...65535)
            case "--quick": (messages, samples, warmUp) = (10_000, 1, 2000)
            case "--json": wantsJSON = true
            default: throw UsageError(message: "what is \(argument)?")
            }
        }
    }

    private static func number(
        _ name: String, _ rest: inout ArraySlice<String>, _ range: ClosedRange<Int>
    ) throws(UsageError) -> Int {
        guard let number = rest.popFirst().flatMap({ Int($0) }), range.contains(number) else {
            throw UsageError(message: "\(name) wants a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
