import Registrations
import Telemetry

/// A lane's metrics of requests to users. A lane without registrations has none.
///
/// Loop-bound.
final class FanoutCounters {
    private static let devicesBounds = [0, 1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000, 100_000]
    /// The values of the label `devices`.
    private static let deviceWords = ["none", "one", "several"]

    let lookups: Counter
    /// The duration of successful lookups.
    let duration: Histogram
    let devices: Histogram
    let children: Counter
    let gone: Counter
    /// The number of lanes that are connected to the store and whose breaker is closed.
    let storeUp: Gauge
    private var requests: CounterTable
    private var faults: LabeledCounters<StoreFault.Code>

    init(_ registry: MetricsRegistry, apps: AppDirectory) {
        func counter(_ name: String, _ help: String) -> Counter {
            registry.counter("martlet_\(name)_total", help: help, labels: [:])
        }
        lookups = counter("registration_lookups", "Lookups of devices. A lookup can answer several requests.")
        duration = registry.histogram(
            "martlet_registration_lookup_seconds", help: "Time from a lookup of devices to its response.")
        devices = registry.histogram(
            "martlet_fanout_devices", help: "Devices of each completed request to users.", unit: .plain,
            bounds: Self.devicesBounds)
        children = counter("fanout_children", "Requests to devices published for requests to users.")
        gone = counter("fanout_gone", "Requests to devices not pushed because the registration had ended.")
        storeUp = registry.gauge(
            "martlet_registration_lookups_up", help: "Lanes whose lookups of devices work.")
        requests = CounterTable(
            registry, "martlet_fanout_requests_total",
            help: "Completed requests to users, by configured app and number of devices.",
            count: apps.count * Self.deviceWords.count
        ) { number in
            let (app, word) = number.quotientAndRemainder(dividingBy: Self.deviceWords.count)
            return ["app": LaneMetrics.name(of: app, apps), "devices": Self.deviceWords[word]]
        }
        faults = LabeledCounters(
            registry, "martlet_registration_faults_total", help: "Failures of lookups and of their connection, by code."
        ) { ["code": $0.rawValue] }
    }

    func completed(_ app: AppDirectory.Index, devices count: Int) {
        requests.add(app * Self.deviceWords.count + min(count, Self.deviceWords.count - 1))
        devices.observe(count)
    }

    func failed(_ fault: StoreFault) { faults.add(fault.code) }
}
