import Threads

/// The metrics of a process by name and labels, rendered for Prometheus.
///
/// Each registration returns a new cell, so each lane counts in memory that no other thread writes. Beyond
/// ``cellsPerSeriesMax``, registrations share cells. The value of a series is the sum of its cells. A registration
/// needs a lock, but an increment accesses only the cell.
///
/// `@unchecked Sendable`: the lock guards the families.
public final class MetricsRegistry: @unchecked Sendable {
    /// Maximum number of label combinations of one name. Further combinations are counted together under
    /// `overflow="true"`.
    public static let seriesPerFamilyMax = 1000

    /// Maximum number of cells for one combination of name and labels. Later registrations share cells, because the
    /// lanes of each reload register again.
    public static let cellsPerSeriesMax = 64

    public typealias Labels = KeyValuePairs<String, String>

    private let lock = ConditionLock()
    private var families: [MetricFamily] = []

    public init() {}

    /// Registers a cell of the counter with this name and these labels. `name` ends in `_total`.
    public func counter(_ name: String, help: String, labels: Labels = [:]) -> Counter {
        let cell = add(.counter(Counter()), to: name, help, "counter", labels)
        guard case .counter(let counter) = cell else { preconditionFailure("\(name) is not a counter") }
        return counter
    }

    /// Registers a cell of the gauge with this name and these labels.
    public func gauge(_ name: String, help: String, labels: Labels = [:]) -> Gauge {
        let cell = add(.gauge(Gauge()), to: name, help, "gauge", labels)
        guard case .gauge(let gauge) = cell else { preconditionFailure("\(name) is not a gauge") }
        return gauge
    }

    /// Registers a cell of the histogram with this name and these labels. A `name` with the unit nanoseconds ends in
    /// `_seconds`. All cells of a name have the same bounds.
    public func histogram(
        _ name: String, help: String, labels: Labels = [:], unit: Histogram.Unit = .nanoseconds,
        bounds: [Int] = Histogram.networkNanoseconds
    ) -> Histogram {
        let cell = add(.histogram(Histogram(unit: unit, bounds: bounds)), to: name, help, "histogram", labels)
        guard case .histogram(let histogram) = cell else { preconditionFailure("\(name) is not a histogram") }
        return histogram
    }

    /// Replaces all gauges of this name with current values. If `name` ends in `_total`, the values belong to a counter
    /// outside the registry. Each series then keeps the largest value so far.
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

    /// Returns the count of each series of a counter, in the order of registration.
    public func counts(of name: String) -> [(labels: Labels, count: Int)] {
        family(name)?.series.map { series in
            (
                series.labels,
                series.cells.reduce(0) { if case .counter(let counter) = $1 { $0 &+ counter.value } else { $0 } }
            )
        } ?? []
    }

    /// Returns the sum of all series of a counter. With `label`, returns the sum of the series that have this label.
    public func count(of name: String, with label: (name: String, value: String)? = nil) -> Int {
        counts(of: name).reduce(0) { sum, series in
            let counts = label.map { label in series.labels.contains { $0.key == label.name && $0.value == label.value }
            }
            return counts ?? true ? sum &+ series.count : sum
        }
    }

    /// Returns the sum of all cells of a gauge.
    public func level(of name: String) -> Int {
        family(name)?.series.flatMap(\.cells).reduce(0) {
            if case .gauge(let gauge) = $1 { $0 &+ gauge.value } else { $0 }
        } ?? 0
    }

    /// Returns the reading of the histogram with this name and these labels; nil if no such histogram is registered.
    public func reading(of name: String, labels: Labels = [:]) -> HistogramReading? {
        family(name)?.reading(MetricFamily.text(labels))
    }

    /// Returns all metrics in Prometheus' text format 0.0.4.
    public func render() -> String {
        let families = lock.withLock { self.families }
        var text = ""
        for family in families where !family.series.isEmpty { family.render(to: &text) }
        return text
    }
}
