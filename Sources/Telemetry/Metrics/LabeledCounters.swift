/// The counters of one metric whose label values are discovered at run time. Only one thread may use the counters.
public struct LabeledCounters<Key: Hashable> {
    /// Maximum number of keys with their own counter. Further keys share one counter.
    public static var keysMax: Int { MetricsRegistry.seriesPerFamilyMax }

    private let registry: MetricsRegistry
    private let name: String
    private let help: String
    private let labels: (Key) -> MetricsRegistry.Labels
    private var counters: [Key: Counter] = [:]
    private var overflow: Counter?

    public init(
        _ registry: MetricsRegistry, _ name: String, help: String, labels: @escaping (Key) -> MetricsRegistry.Labels
    ) {
        (self.registry, self.name, self.help, self.labels) = (registry, name, help, labels)
    }

    public mutating func add(_ key: Key) {
        if let counter = counters[key] ?? overflow { return counter.add() }
        let isFull = counters.count >= Self.keysMax
        let counter = registry.counter(name, help: help, labels: isFull ? MetricFamily.overflow : labels(key))
        counter.add()
        if isFull { overflow = counter } else { counters[key] = counter }
    }
}
