import JSON

/// What programs cost that did the same in turns, for people and for programs.
struct Comparison {
    let benchmark: String
    /// What they were given to do.
    let description: String
    /// The same, for programs.
    let settings: KeyValuePairs<String, Int>
    let unit: Measurement.Unit
    /// In the order of the first turn; all but Martlet are its yardsticks.
    let programs: [BenchProgram]
    /// What Martlet is to cost at most, in terms of each yardstick's processor time.
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

    /// Measures each program so many times.
    ///
    /// - Parameter measure: with a number that no other sample has.
    mutating func takeTurns(
        _ count: Int, _ measure: (BenchProgram, _ round: Int) async throws -> Measurement
    ) async throws {
        for sample in 1...count {
            for (place, program) in programs.order(ofTurn: sample).enumerated() {
                let measurement = try await measure(program, (sample - 1) * programs.count + place + 1)
                samples[program, default: []].append(measurement)
                MartletBench.note("\(sample)/\(count)  \(line(program, measurement))")
            }
        }
    }

    func median(_ program: BenchProgram) -> Measurement { .median(samples[program] ?? []) }

    private func cost(beside baseline: BenchProgram) -> Double {
        median(.martlet).processorMicroseconds / median(baseline).processorMicroseconds
    }

    var table: String {
        """
        \(description)

        \(header(median(.martlet)))
        \(programs.map { line($0, median($0)) }.joined(separator: "\n"))

        \(yardsticks.map(comparison).joined(separator: "\n"))
        """
    }

    private var yardsticks: [BenchProgram] { programs.filter { $0 != .martlet } }

    private func comparison(with baseline: BenchProgram) -> String {
        let rate = Figures.decimal(median(.martlet).perSecond / median(baseline).perSecond, places: 2)
        let cost = Figures.decimal(cost(beside: baseline), places: 2)
        let goal = costMax.map { "; at most \(Figures.decimal($0, places: 1)) is the goal" } ?? ""
        return
            "Martlet reaches \(rate) of \(baseline.rawValue)'s rate and costs \(cost) times its processor time\(goal)."
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
        for baseline in yardsticks {
            json.member("cost_in_terms_of_\(baseline.rawValue)", cost(beside: baseline), places: 2)
        }
        write(to: &json)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// A member for each program.
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
