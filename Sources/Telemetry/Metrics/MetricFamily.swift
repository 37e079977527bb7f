/// The storage of one registration of a series.
enum MetricCell {
    case counter(Counter)
    case gauge(Gauge)
    case histogram(Histogram)
    /// The value at the last `replace`, or for a counter the largest value so far.
    case value(Double)
}

/// All series of one metric name, and their rendering.
struct MetricFamily {
    struct Series {
        let labels: MetricsRegistry.Labels
        let text: String
        var cells: [MetricCell]
    }

    /// The labels of the series that counts all label combinations beyond `seriesPerFamilyMax`.
    static let overflow: MetricsRegistry.Labels = ["overflow": "true"]

    let name: String
    let help: String
    let type: String
    /// The series, in the order of registration.
    private(set) var series: [Series] = []
    private var indices: [String: Int] = [:]
    /// The index of the cell that was last shared by a registration beyond `cellsPerSeriesMax`.
    private var shared = 0

    init(name: String, help: String, type: String) {
        (self.name, self.help, self.type) = (name, help, type)
    }

    /// Adds a cell to the series with the labels, or to the overflow series beyond `seriesPerFamilyMax`. Returns the
    /// cell. If the series has the maximum number of cells, returns an existing cell instead.
    mutating func add(_ cell: MetricCell, _ labels: MetricsRegistry.Labels) -> MetricCell {
        let text = Self.text(labels)
        if let index = indices[text] {
            let count = series[index].cells.count
            if count >= MetricsRegistry.cellsPerSeriesMax {
                shared = (shared + 1) % count
                return series[index].cells[shared]
            }
            series[index].cells.append(cell)
        } else if series.count < MetricsRegistry.seriesPerFamilyMax || text == Self.text(Self.overflow) {
            indices[text] = series.count
            series.append(Series(labels: labels, text: text, cells: [cell]))
        } else {
            return add(cell, Self.overflow)
        }
        return cell
    }

    /// Raises the counter to `value`. A lower value has no effect, so the counter never decreases.
    ///
    /// - Returns: false if a further series would exceed the maximum.
    mutating func raise(_ value: Double, _ labels: MetricsRegistry.Labels) -> Bool {
        let text = Self.text(labels)
        if let index = indices[text], case .value(let before)? = series[index].cells.first {
            series[index].cells = [.value(max(value, before))]
        } else if series.count < MetricsRegistry.seriesPerFamilyMax || text == Self.text(Self.overflow) {
            _ = add(.value(value), labels)
        } else {
            return false
        }
        return true
    }

    mutating func removeAll() {
        series = []
        indices = [:]
    }

    func reading(_ labels: String) -> HistogramReading? {
        indices[labels].flatMap { Self.reading(series[$0].cells) }
    }

    private static func reading(_ cells: [MetricCell]) -> HistogramReading? {
        var sum: HistogramReading?
        for case .histogram(let histogram) in cells {
            if sum == nil { sum = histogram.reading } else { sum?.add(histogram.reading) }
        }
        return sum
    }

    func render(to text: inout String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for series in series { render(series, to: &text) }
    }

    private func render(_ series: Series, to text: inout String) {
        let braced = series.text.isEmpty ? "" : "{\(series.text)}"
        if let reading = Self.reading(series.cells) {
            let prefix = series.text.isEmpty ? "" : series.text + ","
            var below = 0
            for (index, count) in reading.counts.enumerated() {
                below &+= count
                let bound = index < reading.bounds.count ? reading.rendered(reading.bounds[index]) : "+Inf"
                text += "\(name)_bucket{\(prefix)le=\"\(bound)\"} \(below)\n"
            }
            text += "\(name)_sum\(braced) \(reading.rendered(reading.sum))\n\(name)_count\(braced) \(below)\n"
        } else if case .value? = series.cells.first {
            let value = series.cells.reduce(0) { if case .value(let value) = $1 { $0 + value } else { $0 } }
            text +=
                "\(name)\(braced) \(value.rounded() == value && abs(value) < 1e15 ? String(Int(value)) : String(value))\n"
        } else {
            let sum = series.cells.reduce(0) { sum, cell in
                switch cell {
                case .counter(let counter): sum &+ counter.value
                case .gauge(let gauge): sum &+ gauge.value
                case .histogram, .value: sum
                }
            }
            text += "\(name)\(braced) \(sum)\n"
        }
    }

    static func text(_ labels: MetricsRegistry.Labels) -> String {
        labels.map { "\($0.key)=\"\(escaped($0.value))\"" }.joined(separator: ",")
    }

    /// Escapes backslash, quote and line feed of a label value, for Prometheus' text format 0.0.4.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += #"\\"#
            case "\"": result += #"\""#
            case "\n": result += #"\n"#
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
