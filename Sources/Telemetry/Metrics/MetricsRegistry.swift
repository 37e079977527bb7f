import Threads

/// The metrics of a process by name and labels, and their text for Prometheus.
///
/// A call for a metric makes a cell of its own, so that each lane counts in memory that no other writes to, until there
/// are ``cellsPerSeriesMax``; what is told of a name and labels is the sum of its cells. Asking takes a lock and is done once for each; counting touches
/// the cell alone.
///
/// `@unchecked Sendable`: the lock guards the families.
public final class MetricsRegistry: @unchecked Sendable {
    /// Combinations of labels of one name; further ones are counted together under `overflow="true"`.
    public static let seriesPerFamilyMax = 1000

    /// Cells of one name and labels; who comes later shares one, since lanes come and go.
    public static let cellsPerSeriesMax = 64

    public typealias Labels = KeyValuePairs<String, String>

    private let lock = ConditionLock()
    private var families: [MetricFamily] = []

    public init() {}

    /// A cell of the counter of that name and those labels. `name` ends in `_total`.
    public func counter(_ name: String, help: String, labels: Labels = [:]) -> Counter {
        let cell = add(.counter(Counter()), to: name, help, "counter", labels)
        guard case .counter(let counter) = cell else { preconditionFailure("\(name) is of another type") }
        return counter
    }

    /// A cell of the gauge of that name and those labels.
    public func gauge(_ name: String, help: String, labels: Labels = [:]) -> Gauge {
        let cell = add(.gauge(Gauge()), to: name, help, "gauge", labels)
        guard case .gauge(let gauge) = cell else { preconditionFailure("\(name) is of another type") }
        return gauge
    }

    /// A cell of the histogram of that name and those labels. `name` ends in its unit, `_seconds`; all cells of a name have
    /// the same bounds.
    public func histogram(
        _ name: String, help: String, labels: Labels = [:], unit: Histogram.Unit = .nanoseconds,
        bounds: [Int] = Histogram.networkNanoseconds
    ) -> Histogram {
        let cell = add(.histogram(Histogram(unit: unit, bounds: bounds)), to: name, help, "histogram", labels)
        guard case .histogram(let histogram) = cell else { preconditionFailure("\(name) is of another type") }
        return histogram
    }

    /// Takes the place of all gauges of that name: what comes and goes is told as it is now. What others count is told as
    /// a counter when `name` ends in `_total`, and stays where it was while they have less to say.
    public func replace(_ name: String, help: String, _ values: [(labels: Labels, value: Double)]) {
        lock.withLock {
            guard name.hasSuffix("_total") else {
                let index = index(of: name, help, "gauge")
                families[index].removeAll()
                for (labels, value) in values { _ = families[index].add(.value(value), labels) }
                return
            }
            let index = index(of: name, help, "counter")
            let beyond = values.filter { !families[index].raise($0.value, $0.labels) }
            if !beyond.isEmpty { _ = families[index].raise(beyond.reduce(0) { $0 + $1.value }, MetricFamily.overflow) }
        }
    }

    private func add(_ cell: MetricCell, to name: String, _ help: String, _ type: String, _ labels: Labels)
        -> MetricCell
    {
        lock.withLock { families[index(of: name, help, type)].add(cell, labels) }
    }

    private func index(of name: String, _ help: String, _ type: String) -> Int {
        if let known = families.firstIndex(where: { $0.name == name }) { return known }
        families.append(MetricFamily(name: name, help: help, type: type))
        return families.endIndex - 1
    }

    private func family(_ name: String) -> MetricFamily? { lock.withLock { families.first { $0.name == name } } }

    /// What the counters of a name stand at, by their labels in the order of asking.
    public func counts(of name: String) -> [(labels: Labels, count: Int)] {
        family(name)?.series.map { series in
            (
                series.labels,
                series.cells.reduce(0) { if case .counter(let counter) = $1 { $0 &+ counter.value } else { $0 } }
            )
        } ?? []
    }

    /// All counters of a name together; with `label`, those of them that have it.
    public func count(of name: String, with label: (name: String, value: String)? = nil) -> Int {
        counts(of: name).reduce(0) { sum, series in
            let counts = label.map { label in series.labels.contains { $0.key == label.name && $0.value == label.value }
            }
            return counts ?? true ? sum &+ series.count : sum
        }
    }

    /// All gauge cells of a name together.
    public func level(of name: String) -> Int {
        family(name)?.series.flatMap(\.cells).reduce(0) {
            if case .gauge(let gauge) = $1 { $0 &+ gauge.value } else { $0 }
        } ?? 0
    }

    /// What the histogram of a name and those labels stands at; nil when there is none.
    public func reading(of name: String, labels: Labels = [:]) -> HistogramReading? {
        family(name)?.reading(MetricFamily.text(labels))
    }

    /// All metrics in Prometheus' text format 0.0.4.
    public func render() -> String {
        let families = lock.withLock { self.families }
        var text = ""
        for family in families where !family.series.isEmpty { family.render(to: &text) }
        return text
    }
}
