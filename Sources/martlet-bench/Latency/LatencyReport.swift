import JSON

/// What was measured, for people and for programs.
struct LatencyReport {
    private struct Place: Hashable {
        let program: BenchProgram
        let rate: Int
    }

    let options: LatencyOptions
    private var samples: [Place: [LatencyFigures]] = [:]

    init(options: LatencyOptions) {
        self.options = options
    }

    mutating func add(_ figures: LatencyFigures, of program: BenchProgram, at rate: Int) {
        samples[Place(program: program, rate: rate), default: []].append(figures)
    }

    private func median(_ program: BenchProgram, _ rate: Int) -> LatencyFigures {
        LatencyFigures(medianOf: samples[Place(program: program, rate: rate)] ?? [])
    }

    var table: String {
        let rows = options.rates.flatMap { rate in
            BenchProgram.allCases.map { Self.line($0, rate, median($0, rate)) }
        }
        return """
            From the publish of a message to its result, \(options.seconds) s at each rate, answers after \
            \(options.delayMilliseconds) ms; median of \(options.samples)

                           messages/s    p50 ms    p99 ms  p99.9 ms   CPU µs/message   peak MB
            \(rows.joined(separator: "\n"))
            """
    }

    static func line(_ program: BenchProgram, _ rate: Int, _ figures: LatencyFigures) -> String {
        program.cell
            + Figures.cell(Double(rate), places: 0, width: 12) + Figures.cell(figures.p50, places: 2, width: 10)
            + Figures.cell(figures.p99, places: 2, width: 10) + Figures.cell(figures.p999, places: 2, width: 10)
            + Figures.cell(figures.processorMicroseconds, places: 1, width: 17)
            + Figures.cell(figures.peakMegabytes, places: 1, width: 10)
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", "latency")
        json.member("seconds", options.seconds)
        json.member("samples", options.samples)
        json.member("delay_ms", options.delayMilliseconds)
        json.beginArray("rates")
        for rate in options.rates {
            json.beginObject()
            json.member("messages_per_second", rate)
            for program in BenchProgram.allCases {
                json.key(program.rawValue)
                Self.write(median(program, rate), to: &json)
            }
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func write(_ figures: LatencyFigures, to json: inout JSONWriter) {
        json.figures(
            [
                "p50_ms": figures.p50,
                "p99_ms": figures.p99,
                "p999_ms": figures.p999,
                "cpu_us_per_message": figures.processorMicroseconds,
                "peak_mb": figures.peakMegabytes,
            ], places: 3)
    }

    /// Both percentiles of each program over the rate.
    var chart: LineChart {
        var chart = LineChart(
            title: "From publish to result", xLabel: "messages a second", yLabel: "milliseconds")
        for program in BenchProgram.allCases {
            for (name, figure) in [("p50", \LatencyFigures.p50), ("p99", \.p99)] {
                chart.lines.append(
                    LineChart.Line(
                        name: "\(program.rawValue) \(name)", isDashed: name == "p99", group: program.rawValue,
                        points: options.rates.map { (Double($0), median(program, $0)[keyPath: figure]) }))
            }
        }
        return chart
    }
}
