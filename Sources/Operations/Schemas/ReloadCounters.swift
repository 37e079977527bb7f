import Telemetry

/// How often files were read again while the worker ran.
struct ReloadCounters: Sendable {
    let taken: Counter
    /// The version before stayed.
    let refused: Counter

    /// - Parameter what: one word for what the files hold.
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
