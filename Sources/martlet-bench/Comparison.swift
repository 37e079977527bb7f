import JSON

/// The measurements of programs that did the same work, as a table and as JSON.
struct Comparison {
    let benchmark: String
    /// The work, as text.
    let description: String
    /// The work, as members of the JSON report.
    let settings: KeyValuePairs<String, Int>
    let unit: Measurement.Unit
    /// The programs in the order of the first sample. All programs except Martlet serve as baselines.
    let programs: [BenchProgram]
    /// The goal for Martlet's processor time, as a multiple of each baseline's processor time; nil for no goal.
    var costMax: Double?
    private var samples: [BenchProgram: [Measurement]] = [:]

    init(
        _ benchmark: String, _ description: String, _ settings: KeyValuePairs<String, Int>, unit: Measurement.Unit,
        programs: [BenchProgram]
    ) {
        self.benchmark = benchmark
        self.description = description
        self.settings = settings
        self.unit = unit
        self.programs = programs
    }

    /// Measures each program `count` times, in alternation.
    ///
    /// - Parameter measure: Measures one sample. Each call gets a different `round`.
    mutating func collectSamples(
        _ count: Int, _ measure: (BenchProgram, _ round: Int) async throws -> Measurement
    ) async throws {
        for sample in 1...count {
            for (place, program) in programs.order(ofSample: sample).enumerated() {
                let measurement = try await measure(program, (sample - 1) * programs.count + place + 1)
                samples[program, default: []].append(measurement)
                MartletBench.log("\(sample)/\(count)  \(line(program, measurement))")
            }
        }
    }

    func median(_ program: BenchProgram) -> Measurement { .median(samples[program] ?? []) }

    private func cost(relativeTo baseline: BenchProgram) -> Double {
        median(.martlet).processorMicroseconds / median(baseline).processorMicroseconds
    }

    var table: String {
        """
        \(description)

        \(header(median(.martlet)))
        \(programs.map { line($0, median($0)) }.joined(separator: "\n"))

        \(baselines.map(comparison).joined(separator: "\n"))
        """
    }

    private var baselines: [BenchProgram] { programs.filter { $0 != .martlet } }

    private func comparison(with baseline: BenchProgram) -> String {
        let rate = Figures.decimal(median(.martlet).perSecond / median(baseline).perSecond, places: 2)
        let cost = Figures.decimal(cost(relativeTo: baseline), places: 2)
        let goal = costMax.map { " (goal: at most \(Figures.decimal($0, places: 1)))" } ?? ""
        return
            "Martlet has \(rate) times the rate and \(cost) times the processor time of \(baseline.rawValue)\(goal)."
    }

    func header(_ figures: Measurement) -> String {
        String(repeating: " ", count: BenchProgram.cellWidth) + Figure.header(figures.figures(by: unit))
    }

    func line(_ program: BenchProgram, _ figures: Measurement) -> String {
        program.cell + Figure.row(figures.figures(by: unit))
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", benchmark)
        for (name, value) in settings {
            json.key(name)
            json.int(Int64(value))
        }
        for baseline in baselines {
            json.member("cost_in_terms_of_\(baseline.rawValue)", cost(relativeTo: baseline), places: 2)
        }
        write(to: &json)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Writes a member for each program.
    func write(to json: inout JSONWriter) {
        for program in programs {
            json.key(program.rawValue)
            json.beginObject()
            json.key("median")
            json.figures(median(program).figures(by: unit))
            json.beginArray("samples")
            for sample in samples[program] ?? [] { json.figures(sample.figures(by: unit)) }
            json.endArray()
            json.endObject()
        }
    }
}
