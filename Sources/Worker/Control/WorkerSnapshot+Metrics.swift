import AMQP
import APNS
import APNSProtocol
import ControlProtocol
import Delivery
import Telemetry

extension WorkerSnapshot {
    /// Writes the gauges. The registry already has the counters.
    func write(to metrics: MetricsRegistry) {
        typealias Values = [(labels: MetricsRegistry.Labels, value: Double)]
        func several(_ name: String, _ help: String, _ values: Values) {
            metrics.replace("martlet_\(name)", help: help, values)
        }
        func one(_ name: String, _ help: String, _ value: Int) { several(name, help, [([:], Double(value))]) }
        let lanes = lanes.compactMap(\.status)
        let settling = lanes + retired.compactMap(\.status)

        several(
            "build_info", "1, with the version of Martlet and of what it has loaded.",
            [(["version": status.version, "librabbitmq": AMQPLibrary.version], 1)])
        one("ready", "Whether every lane takes messages and can tell what becomes of them.", status.isReady ? 1 : 0)
        one("lanes", "Lanes of this worker.", self.lanes.count)
        one("lanes_stalled", "Lanes that have stopped turning.", self.lanes.count { !$0.makesProgress })
        one("uptime_seconds", "Since the worker began.", status.uptimeSeconds)
        one("paused", "Whether an operator has paused something.", status.paused.isEmpty ? 0 : 1)
        one("log_lines_dropped_total", "Lines of log that could not be written.", status.logLinesDropped)
        one("spans_dropped_total", "Spans that were too many, or that the collector did not take.", status.spansDropped)
        several(
            "amqp_connected", "Lanes whose connection to the broker serves, by what for.",
            [
                (["role": "consume"], Double(lanes.count { $0.state.isConsuming })),
                (["role": "publish"], Double(lanes.count { $0.state.isPublishing })),
            ])
        one(
            "publish_stuck", "Lanes that cannot publish what became of messages.",
            settling.count { $0.state.publishingFailure != nil })
        one("publish_unconfirmed", "Messages published and not confirmed.", settling.reduce(0) { $0 + $1.unconfirmed })
        one("publish_waiting", "Messages that wait to be published.", settling.reduce(0) { $0 + $1.unpublished })
        one("unacked", "Deliveries that are not settled.", settling.flatMap(\.queues).reduce(0) { $0 + $1.unsettled })
        several(
            "queue_messages", "Messages ready in the broker's queues, as it said last.",
            status.queues.map { (["queue": $0.name], Double($0.messages)) })
        several(
            "queue_consumers", "Consumers of the broker's queues, as it said last.",
            status.queues.map { (["queue": $0.name], Double($0.consumers)) })
        several(
            "breaker_state", "1 while pushes of the target are held up, by cause; -1 while an operator has paused it.",
            status.breakers.map { (["target": $0.route, "code": $0.code], 1) }
                + status.paused.map { (["target": $0, "code": "paused"], -1) })
        several(
            "breaker_open_seconds", "How long pushes of the target have been held up.",
            status.breakers.map { (["target": $0.route], Double($0.secondsOpen)) })
        several(
            "app_limit_behind_seconds",
            "How far ahead turns are planned of messages that wait at the broker because of limits of their app.",
            status.limitedApps.map { (["app": $0.bundleID], Double($0.secondsBehind)) })
        several(
            "certificate_expiration_timestamp_seconds", "When the certificate ends, since 1970.",
            status.certificates.map { (["certificate": $0.name], Double($0.notAfterSeconds)) })
        writePools(lanes.flatMap(\.pools), several)
    }

    private func writePools(
        _ pools: [PoolStatus], _ several: (String, String, [(labels: MetricsRegistry.Labels, value: Double)]) -> Void
    ) {
        var kinds: [PoolStatus] = []
        for pool in pools where !kinds.contains(where: { $0.isSameKind(as: pool) }) { kinds.append(pool) }
        func sum(_ value: (PoolStatus) -> Int) -> [(labels: MetricsRegistry.Labels, value: Double)] {
            kinds.map { kind in
                let sum = pools.lazy.filter { $0.isSameKind(as: kind) }.reduce(0) { $0 + value($1) }
                return (kind.labels, Double(sum))
            }
        }
        several("apns_connections", "Connections to APNs that have not ended.", sum(\.connections))
        several("apns_streams", "Pushes that wait for their answer.", sum(\.streams))
        several("apns_waiting", "Pushes that wait for a stream.", sum(\.waiting))
        several(
            "apns_token_age_seconds", "Of the oldest provider token in use.",
            kinds.compactMap { kind in
                let ages = pools.filter { $0.isSameKind(as: kind) }.compactMap(\.tokenAgeSeconds)
                return ages.max().map { (kind.labels, Double($0)) }
            })
    }
}

extension PoolStatus {
    fileprivate func isSameKind(as other: PoolStatus) -> Bool {
        credential == other.credential && environment == other.environment
    }

    fileprivate var labels: MetricsRegistry.Labels { credential.labels(in: environment) }
}
