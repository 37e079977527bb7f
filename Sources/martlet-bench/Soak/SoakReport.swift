import JSON
import TestKit

/// The memory of the simulator over time.
struct SoakReport {
    /// The resident memory after the load of a phase.
    struct Sample {
        var minute: Double
        var phase: String
        var megabytes: Double

        var line: String {
            Figures.cell(minute, places: 1, width: 6) + Figures.cell(megabytes, places: 1, width: 14)
                + "   after \(phase)"
        }
    }

    /// The minimum number of accepted pushes, as a share of the maximum load.
    private static let acceptedShareMin = 0.25
    private static let linesMax = 30

    let options: SoakOptions
    private(set) var samples: [Sample] = []
    /// The number of phases in which h2load was killed because responses were missing.
    private(set) var loadsKilled = 0
    /// The counters of the simulator; nil until the end of the load.
    var counters: JSONDocument?

    init(options: SoakOptions) {
        self.options = options
    }

    mutating func add(_ sample: Sample, hasFinished: Bool) {
        samples.append(sample)
        if !hasFinished { loadsKilled += 1 }
        MartletBench.log(sample.line)
    }

    private var growth: MemoryGrowth {
        var growth = MemoryGrowth(of: options.minutes)
        for sample in samples { growth.add(done: sample.minute, megabytes: sample.megabytes) }
        return growth
    }

    /// Whether the memory growth is within its limit, or the limit is not enforced.
    var isSteady: Bool { !options.enforcesLimits || growth.isSteady }

    /// Whether there were enough pushes for a valid measurement.
    var hasLoad: Bool {
        let accepted = Double(counters?.root[key: "accepted"]?.int ?? 0)
        let pushed = Double(samples.count * options.phaseSeconds * Soak.requestsPerSecond)
        return accepted > (options.enforcesLimits ? Self.acceptedShareMin * pushed : 0)
    }

    var table: String {
        let step = max(1, (samples.count + Self.linesMax - 1) / Self.linesMax)
        let rows = stride(from: 0, to: samples.count - 1, by: step).map { samples[$0].line }
        let last = samples.last.map { [$0.line] } ?? []
        return """
            minute   resident MB
            \((rows + last).joined(separator: "\n"))

            Memory at the end: \(Figures.decimal(growth.factor ?? 0, places: 2)) times the memory after a tenth of the time.
            h2load did not finish and was killed in \(loadsKilled) of \(samples.count) phases.
            \(counterLines)
            """
    }

    private var counterLines: String {
        let counts = ["connections", "requests", "accepted", "streams_refused", "requests_abandoned"]
            .map { "\($0) \(counters?.root[key: $0]?.int ?? 0)" }
        let faults =
            counters?.root[key: "faults_by_action"]?.members
            .map { "\($0.key.string ?? "") \($0.value.int ?? 0)" } ?? []
        return "Counters: \(counts.joined(separator: ", ")).\nFaults: \(faults.joined(separator: ", "))."
    }
}
