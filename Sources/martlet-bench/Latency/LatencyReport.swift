import JSON

/// The measured latencies, as a table, as JSON and as a chart.
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
        .median(samples[Place(program: program, rate: rate)] ?? [])
    }

    var table: String {
        let rows = options.rates.flatMap { rate in
            BenchProgram.consumers.map { Self.line($0, rate, median($0, rate)) }
        }
        return """
            Time from publish to result, \(options.seconds) s at each rate, responses after \
            \(options.delayMilliseconds) ms; median of \(options.samples)

            \(header)
            \(rows.joined(separator: "\n"))
            """
    }

    private var header: String {
        let figures = options.rates.first.map { Self.columns($0, median(.martlet, $0)) } ?? []
        return String(repeating: " ", count: BenchProgram.cellWidth) + Figure.header(figures)
    }

    static func line(_ program: BenchProgram, _ rate: Int, _ figures: LatencyFigures) -> String {
        program.cell + Figure.row(columns(rate, figures))
    }

    private static func columns(_ rate: Int, _ figures: LatencyFigures) -> [Figure] {
        [Figure(title: "requests/s", key: "messages_per_second", value: Double(rate), places: 0)] + figures.figures
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
            for program in BenchProgram.consumers {
                json.key(program.rawValue)
                json.figures(median(program, rate).figures)
            }
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// A chart with two latency percentiles of each program at each rate.
    var chart: LineChart {
        var chart = LineChart(
            title: "Time from publish to result", xLabel: "requests per second", yLabel: "milliseconds")
        for program in BenchProgram.consumers {
            for (name, figure) in [("p50", \Percentiles.p50), ("p99", \.p99)] {
                chart.lines.append(
                    LineChart.Line(
                        name: "\(program.rawValue) \(name)", isDashed: name == "p99", group: program.rawValue,
                        points: options.rates.map { (Double($0), median(program, $0).latency[keyPath: figure]) }))
            }
        }
        return chart
    }
}
