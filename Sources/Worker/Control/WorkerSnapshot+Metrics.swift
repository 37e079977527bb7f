import AMQP
import APNS
import APNSProtocol
import ControlProtocol
import Delivery
import Registrations
import Telemetry

extension WorkerSnapshot {
    /// Writes the metrics whose values are in the snapshot.
    func write(to metrics: MetricsRegistry) {
        typealias Values = [(labels: MetricsRegistry.Labels, value: Double)]
        func several(_ name: String, _ help: String, _ values: Values) {
            metrics.replace("martlet_\(name)", help: help, values)
        }
        func one(_ name: String, _ help: String, _ value: Int) { several(name, help, [([:], Double(value))]) }
        let lanes = lanes.compactMap(\.status)
        let settling = lanes + retired.compactMap(\.status)

        several(
            "build_info", "1, with the versions of Martlet and of the loaded AMQP library.",
            [(["version": status.version, "librabbitmq": AMQPLibrary.version], 1)])
        one("ready", "1 while every lane consumes requests and can publish outcomes.", status.isReady ? 1 : 0)
        one("lanes", "Lanes of the worker.", self.lanes.count)
        one("lanes_stalled", "Lanes without a recent event-loop iteration.", self.lanes.count { !$0.makesProgress })
        one("uptime_seconds", "Time since the worker started.", status.uptimeSeconds)
        one("paused", "1 while an operator has paused everything or a target.", status.paused.isEmpty ? 0 : 1)
        one("log_lines_dropped_total", "Log lines that could not be written.", status.logLinesDropped)
        one(
            "spans_dropped_total", "Trace spans that a full queue dropped or the collector did not accept.",
            status.spansDropped)
        several(
            "amqp_connected", "Lanes with a working connection to the broker, by role.",
            [
                (["role": "consume"], Double(lanes.count { $0.state.isConsuming })),
                (["role": "publish"], Double(lanes.count { $0.state.isPublishing })),
            ])
        one(
            "publish_stuck", "Lanes that stopped consuming because they cannot publish.",
            settling.count { $0.state.publishingFailure != nil })
        one("publish_unconfirmed", "Messages published and not confirmed.", settling.reduce(0) { $0 + $1.unconfirmed })
        one("publish_waiting", "Messages that wait to be published.", settling.reduce(0) { $0 + $1.unpublished })
        one("unacked", "Unacknowledged deliveries.", settling.flatMap(\.queues).reduce(0) { $0 + $1.unsettled })
        several(
            "queue_messages", "Ready messages of a queue, from the broker's last answer.",
            status.queues.map { (["queue": $0.name], Double($0.messages)) })
        several(
            "queue_consumers", "Consumers of a queue, from the broker's last answer.",
            status.queues.map { (["queue": $0.name], Double($0.consumers)) })
        several(
            "breaker_state", "1 while a breaker holds pushes of the target, by cause; -1 during a pause.",
            status.breakers.map { (["target": $0.route, "code": $0.code], 1) }
                + status.paused.map { (["target": $0, "code": "paused"], -1) })
        several(
            "breaker_open_seconds", "Time for which a breaker has held pushes of the target.",
            status.breakers.map { (["target": $0.route], Double($0.secondsOpen)) })
        several(
            "app_limit_behind_seconds",
            "Time until the last scheduled slot of requests that wait at the broker because of app limits.",
            status.limitedApps.map { (["app": $0.bundleID], Double($0.secondsBehind)) })
        several(
            "certificate_expiration_timestamp_seconds", "Expiration time of a certificate, in seconds since 1970.",
            status.certificates.map { (["certificate": $0.name], Double($0.notAfterSeconds)) })
        several(
            "registration_data_key",
            "1 for the data key that encrypts device registrations; 0 for one that only decrypts.",
            (status.registrations?.dataKeys ?? []).map {
                (["id": "\($0.id)", "fingerprint": $0.fingerprint], $0.isActive ? 1 : 0)
            })
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
        several("apns_streams", "Pushes that wait for the answer of APNs.", sum(\.streams))
        several("apns_waiting", "Pushes that wait for a stream.", sum(\.waiting))
        several(
            "apns_token_age_seconds", "Age of the oldest provider token in use.",
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
