import JSON

/// The measurements at each value of a setting, as a table, as JSON and as charts.
struct GrowthReport {
    private static let valueWidth = 10

    let options: GrowthOptions
    var steps: [(value: Int, comparison: Comparison)] = []

    init(options: GrowthOptions) {
        self.options = options
    }

    var table: String {
        let rows = steps.flatMap { value, comparison in
            Growth.programs.map {
                Figures.cell(Double(value), places: 0, width: Self.valueWidth) + "  "
                    + comparison.line($0, comparison.median($0))
            }
        }
        let header = steps.first.map { $0.comparison.header($0.comparison.median(.martlet)) } ?? ""
        return """
            Cost by \(options.setting.valueLabel): \(options.description)

            \(String(repeating: " ", count: Self.valueWidth + 2))\(header)
            \(rows.joined(separator: "\n"))

            \(Growth.programs.compactMap(growth).joined(separator: "\n"))
            """
    }

    private func growth(of program: BenchProgram) -> String? {
        guard let (first, last) = steps.first.flatMap({ first in steps.last.map { (first, $0) } }) else { return nil }
        let times =
            last.comparison.median(program).processorMicroseconds
            / first.comparison.median(program).processorMicroseconds
        return """
            \(program.rawValue): the processor time per request at \(last.value) is \(Figures.decimal(times, places: 2)) times \
            the processor time at \(first.value).
            """
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", "growth")
        json.member("setting", options.setting.rawValue)
        json.member("else", options.description)
        json.beginArray("values")
        for (value, comparison) in steps {
            json.beginObject()
            json.member("value", value)
            comparison.write(to: &json)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Charts of throughput and of processor time per request.
    var sheet: ChartSheet {
        func chart(_ title: String, _ yLabel: String) -> LineChart {
            LineChart(
                title: title, xLabel: options.setting.valueLabel, yLabel: yLabel, width: 640,
                xValues: options.values.map(Double.init))
        }
        var throughput = chart("Throughput", "requests per second")
        var cost = chart("Processor time per request", "microseconds")
        for program in Growth.programs {
            throughput.lines.append(line(program.rawValue, of: program, \.perSecond))
            cost.lines.append(line(program.rawValue, of: program, \.processorMicroseconds))
        }
        cost.lines.append(line("broker, for martlet", of: .martlet) { $0.peerMicroseconds[.broker] ?? 0 })
        return ChartSheet(throughput, cost, caption: options.description)
    }

    private func line(
        _ name: String, of program: BenchProgram, _ figure: (Measurement) -> Double
    ) -> LineChart.Line {
        LineChart.Line(
            name: name, group: name,
            points: steps.map { (Double($0.value), figure($0.comparison.median(program))) })
    }
}
