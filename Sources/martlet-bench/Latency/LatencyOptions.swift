/// What the command line asks for.
struct LatencyOptions {
    var rates = [500]
    var seconds = 20
    var samples = 5
    var delayMilliseconds = 0
    var lanes = 1
    var wantsJSON = false
    /// Where the picture goes.
    var plot: String?

    /// Of messages a second; more than a broker and its clients can do on two processors.
    private static let rateMax = 100_000
    /// What a picture shows unless rates are given.
    private static let plottedRates = [100, 500, 1000, 2000, 4000, 8000, 12000, 16000]

    init(_ arguments: ArraySlice<String>) throws(UsageError) {
        var arguments = Arguments(arguments)
        var rates: [Int]?
        while let argument = arguments.next() {
            switch argument {
            case "--per-second": rates = try arguments.numbers(for: argument, in: 1...Self.rateMax)
            case "--seconds": seconds = try arguments.number(for: argument, in: 1...3600)
            case "--samples": samples = try arguments.number(for: argument, in: 1...1000)
            case "--delay-ms": delayMilliseconds = try arguments.number(for: argument, in: 0...60_000)
            case "--lanes": lanes = try arguments.number(for: argument, in: 1...64)
            case "--plot": plot = try arguments.text(for: argument)
            case "--quick": (seconds, samples) = (2, 1)
            case "--json": wantsJSON = true
            default: throw UsageError(message: "what is \(argument)?")
            }
        }
        self.rates = rates ?? (plot == nil ? self.rates : Self.plottedRates)
    }
}
