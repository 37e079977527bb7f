import Telemetry

/// Counts the files that a running worker has read again.
struct ReloadCounters: Sendable {
    let taken: Counter
    /// The previous version stayed in force.
    let refused: Counter

    /// - Parameter what: the kind of contents, one word.
    init(_ registry: MetricsRegistry, of what: String) {
        func counter(_ result: String) -> Counter {
            registry.counter(
                "martlet_reloads_total", help: "Files that were read again after a change.",
                labels: ["what": what, "result": result])
        }
        taken = counter("taken")
        refused = counter("refused")
    }
}
