import CommandKit

struct LatencyOptions {
    var rates = [500]
    var seconds = 20
    var samples = 5
    var delayMilliseconds = 0
    var lanes = 1
    var wantsJSON = false
    /// The file for the chart; nil for no chart.
    var plot: String?

    /// The maximum rate in requests per second.
    private static let rateMax = 100_000
    /// The default rates of a chart, in requests per second.
    private static let plottedRates = [100, 500, 1000, 2000, 4000, 8000, 12000, 16000]

    init() {}

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("quick") { (seconds, samples) = (2, 1) }
        seconds = try parsed.integer("seconds", upTo: 3600) ?? seconds
        samples = try parsed.integer("samples", upTo: 1000) ?? samples
        delayMilliseconds = try parsed.integer("delay-ms", in: 0...60_000) ?? delayMilliseconds
        lanes = try parsed.integer("lanes", upTo: 64) ?? lanes
        plot = parsed.options["plot"]
        wantsJSON = parsed.has("json")
        rates = try parsed.integers("per-second", in: 1...Self.rateMax) ?? (plot == nil ? rates : Self.plottedRates)
    }
}
