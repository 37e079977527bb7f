import Telemetry

/// The counters of a running worker's reloads.
struct ReloadCounters: Sendable {
    let taken: Counter
    /// Reloads after which the previous version stays in force.
    let refused: Counter

    /// Registers the counters of the configuration's or the schemas' reloads.
    ///
    /// - Parameter what: the label value for the reloaded contents, one word.
    init(_ registry: MetricsRegistry, of what: String) {
        func counter(_ result: String) -> Counter {
            registry.counter(
                "martlet_reloads_total", help: "Reloads, by contents and result.",
                labels: ["what": what, "result": result])
        }
        taken = counter("taken")
        refused = counter("refused")
    }
}
