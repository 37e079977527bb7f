import JSON
import TestKit

/// How the memory went.
struct SoakReport {
    /// What was held once the load of a phase had ended.
    struct Sample {
        var minute: Double
        var phase: String
        var megabytes: Double

        var line: String {
            Figures.cell(minute, places: 1, width: 6) + Figures.cell(megabytes, places: 1, width: 14)
                + "   after \(phase)"
        }
    }

    /// Of what the load generator is to push at most.
    private static let acceptedShareMin = 0.25
    private static let linesMax = 30

    let options: SoakOptions
    private(set) var samples: [Sample] = []
    /// Phases in which h2load waited for answers that never came, and was ended.
    private(set) var loadsEnded = 0
    /// What the simulator counted.
    var counters: JSONDocument?

    init(options: SoakOptions) {
        self.options = options
    }

    mutating func add(_ sample: Sample, hasFinished: Bool) {
        samples.append(sample)
        if !hasFinished { loadsEnded += 1 }
        MartletBench.note(sample.line)
    }

    private var growth: MemoryGrowth {
        var growth = MemoryGrowth(of: options.minutes)
        for sample in samples { growth.add(done: sample.minute, megabytes: sample.megabytes) }
        return growth
    }

    /// Whether the memory stayed as it should have, or this is not to be judged.
    var isSteady: Bool { !options.judges || growth.isSteady }

    /// Whether enough was pushed for the memory to say something.
    var hasLoad: Bool {
        let accepted = Double(counters?.root[key: "accepted"]?.int ?? 0)
        let pushed = Double(samples.count * options.phaseSeconds * Soak.requestsPerSecond)
        return accepted > (options.judges ? Self.acceptedShareMin * pushed : 0)
    }

    var table: String {
        let step = max(1, (samples.count + Self.linesMax - 1) / Self.linesMax)
        let rows = stride(from: 0, to: samples.count - 1, by: step).map { samples[$0].line }
        let last = samples.last.map { [$0.line] } ?? []
        return """
            minute   resident MB
            \((rows + last).joined(separator: "\n"))

            At the end \(Figures.decimal(growth.factor ?? 0, places: 2)) times what it held after a tenth of the time.
            \(samples.count) phases; in \(loadsEnded) of them h2load waited in vain and was ended.
            \(counted)
            """
    }

    private var counted: String {
        let counts = ["connections", "requests", "accepted", "streams_refused", "requests_abandoned"]
            .map { "\($0) \(counters?.root[key: $0]?.int ?? 0)" }
        let faults =
            counters?.root[key: "faults_by_action"]?.members
            .map { "\($0.key.string ?? "") \($0.value.int ?? 0)" } ?? []
        return "Counted: \(counts.joined(separator: ", ")).\nFaults: \(faults.joined(separator: ", "))."
    }
}
