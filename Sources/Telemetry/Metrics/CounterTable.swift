/// The counters of one metric, indexed by small numbers. Each counter is registered at its first increment. An
/// increment costs less than with `LabeledCounters`. Only one thread may use a table.
public struct CounterTable {
    private let registry: MetricsRegistry
    private let name: String
    private let help: String
    private let labels: (Int) -> MetricsRegistry.Labels
    private var counters: [Counter?]

    /// Creates a table without counters.
    ///
    /// - Parameters:
    ///   - count: the size of the table. Each number is less than the size.
    ///   - labels: returns the labels of a number.
    public init(
        _ registry: MetricsRegistry, _ name: String, help: String, count: Int,
        labels: @escaping (Int) -> MetricsRegistry.Labels
    ) {
        (self.registry, self.name, self.help, self.labels) = (registry, name, help, labels)
        counters = Array(repeating: nil, count: count)
    }

    public mutating func add(_ number: Int) {
        if let counter = counters[number] { return counter.add() }
        let counter = registry.counter(name, help: help, labels: labels(number))
        counter.add()
        counters[number] = counter
    }
}
