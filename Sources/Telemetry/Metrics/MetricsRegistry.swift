/// The metrics of a process by name and labels, and their text for Prometheus.
///
/// Asking for a metric takes a lock and is done once, at the start; counting touches the metric alone.
///
/// `@unchecked Sendable`: the lock guards the families.
public final class MetricsRegistry: @unchecked Sendable {
    /// Combinations of labels of one name; further ones are counted together under `overflow="true"`.
    public static let seriesPerFamilyMax = 1000

    private static let overflow = #"overflow="true""#

    private enum Metric {
        case counter(Counter)
        case gauge(Gauge)
        case histogram(Histogram)
    }

    private struct Family {
        let name: String
        let help: String
        let type: String
        /// By their rendered labels, in the order of asking.
        private(set) var series: [(labels: String, metric: Metric)] = []

        init(name: String, help: String, type: String) {
            (self.name, self.help, self.type) = (name, help, type)
        }

        mutating func metric(_ labels: String, _ make: () -> Metric) -> Metric {
            if let known = series.first(where: { $0.labels == labels }) { return known.metric }
            let isFull = series.count >= seriesPerFamilyMax && labels != overflow
            if isFull { return metric(overflow, make) }
            let metric = make()
            series.append((labels, metric))
            return metric
        }
    }

    private let lock = ThreadCondition()
    private var families: [Family] = []

    public init() {}

    /// The counter of that name and those labels, made when there is none yet. `name` ends in `_total`.
    public func counter(_ name: String, help: String, labels: KeyValuePairs<String, String> = [:]) -> Counter {
        let metric = metric(name, help, "counter", labels) { .counter(Counter()) }
        guard case .counter(let counter) = metric else { preconditionFailure("\(name) is no counter") }
        return counter
    }

    /// The gauge of that name and those labels, made when there is none yet.
    public func gauge(_ name: String, help: String, labels: KeyValuePairs<String, String> = [:]) -> Gauge {
        let metric = metric(name, help, "gauge", labels) { .gauge(Gauge()) }
        guard case .gauge(let gauge) = metric else { preconditionFailure("\(name) is no gauge") }
        return gauge
    }

    /// The histogram of that name and those labels, made when there is none yet. `name` ends in its unit, `_seconds`.
    public func histogram(
        _ name: String, help: String, labels: KeyValuePairs<String, String> = [:],
        unit: Histogram.Unit = .nanoseconds, bounds: [Int] = Histogram.networkNanoseconds
    ) -> Histogram {
        let metric = metric(name, help, "histogram", labels) { .histogram(Histogram(unit: unit, bounds: bounds)) }
        guard case .histogram(let histogram) = metric else { preconditionFailure("\(name) is no histogram") }
        return histogram
    }

    private func metric(
        _ name: String, _ help: String, _ type: String, _ labels: KeyValuePairs<String, String>, _ make: () -> Metric
    ) -> Metric {
        let text = Self.text(labels)
        return lock.locked {
            let index = families.firstIndex { $0.name == name } ?? families.endIndex
            if index == families.endIndex { families.append(Family(name: name, help: help, type: type)) }
            return families[index].metric(text, make)
        }
    }

    private static func text(_ labels: KeyValuePairs<String, String>) -> String {
        labels.map { "\($0.key)=\"\(escaped($0.value))\"" }.joined(separator: ",")
    }

    /// Prometheus' text format 0.0.4: backslash, quote and line feed of a label value are escaped.
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

    /// All metrics in Prometheus' text format 0.0.4.
    public func render() -> String {
        let families = lock.locked { self.families }
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.type)\n"
            for (labels, metric) in family.series { Self.render(metric, family.name, labels, to: &text) }
        }
        return text
    }

    private static func render(_ metric: Metric, _ name: String, _ labels: String, to text: inout String) {
        let braced = labels.isEmpty ? "" : "{\(labels)}"
        switch metric {
        case .counter(let counter): text += "\(name)\(braced) \(counter.value)\n"
        case .gauge(let gauge): text += "\(name)\(braced) \(gauge.value)\n"
        case .histogram(let histogram):
            let prefix = labels.isEmpty ? "" : labels + ","
            var below = 0
            for (index, count) in histogram.counts.enumerated() {
                below &+= count
                let bound = index < histogram.bounds.count ? told(histogram.bounds[index], histogram.unit) : "+Inf"
                text += "\(name)_bucket{\(prefix)le=\"\(bound)\"} \(below)\n"
            }
            text += "\(name)_sum\(braced) \(told(histogram.sum, histogram.unit))\n\(name)_count\(braced) \(below)\n"
        }
    }

    private static func told(_ value: Int, _ unit: Histogram.Unit) -> String {
        switch unit {
        case .nanoseconds: String(Double(value) / 1_000_000_000)
        case .plain: String(value)
        }
    }
}
