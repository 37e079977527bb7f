import ControlProtocol
import Delivery
import Telemetry

/// The log lines of each minute: a summary, and the pushes that APNs refused.
struct MinuteReport {
    static let intervalSeconds = 60
    /// Maximum number of lines about refused pushes. The most frequent refusals have priority.
    private static let refusalLinesMax = 20
    /// Maximum number of apps that a line about refused pushes names.
    private static let appsMax = 5

    private struct Refusal {
        let status: String
        let reason: String
        var count: Int
        var apps: [String]
    }

    private let metrics: MetricsRegistry
    private var totals = WorkerTotals()
    /// The counts of APNs' answers at the previous report. The keys are the labels of a count as text.
    private var answers: [String: Int] = [:]

    init(_ metrics: MetricsRegistry) { self.metrics = metrics }

    mutating func write(to log: Log) {
        let now = WorkerTotals(metrics)
        let minute = now.since(totals)
        totals = now
        log.info(
            .workerSummary,
            [
                .delivered: .integer(minute.taken),
                .accepted: counted(minute.ended(.accepted)), .rejected: counted(minute.ended(.rejected)),
                .expired: counted(minute.ended(.expired)), .invalid: counted(minute.ended(.invalid)),
                .unknown: counted(minute.ended(.unknown)), .retried: counted(minute.retried),
                .held: counted(minute.held), .duplicates: counted(minute.duplicates),
                .deadLetters: counted(minute.deadLetters),
                .latencyP50: minute.milliseconds(ofQuantile: 0.5).map { .number($0) },
                .latencyP99: minute.milliseconds(ofQuantile: 0.99).map { .number($0) },
                .inFlight: .integer(metrics.level(of: "martlet_inflight")),
            ])
        for refusal in refusals() { write(refusal, to: log) }
    }

    private func counted(_ count: Int) -> LogValue? { count == 0 ? nil : .integer(count) }

    /// Returns the pushes that APNs refused since the previous report, by status and reason. The most frequent refusals
    /// are first, at most `refusalLinesMax`.
    private mutating func refusals() -> ArraySlice<Refusal> {
        var refusals: [Refusal] = []
        for (labels, count) in metrics.counts(of: "martlet_apns_answers_total") {
            let key = labels.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            let new = count - (answers[key] ?? 0)
            answers[key] = count
            func label(_ name: String) -> String { labels.first { $0.key == name }?.value ?? "-" }
            // The overflow series, which counts label sets beyond the limit, has no status.
            guard new > 0, !["200", "-"].contains(label("status")) else { continue }
            let known = refusals.firstIndex { $0.status == label("status") && $0.reason == label("reason") }
            let index = known ?? refusals.endIndex
            if known == nil {
                refusals.append(Refusal(status: label("status"), reason: label("reason"), count: 0, apps: []))
            }
            refusals[index].count += new
            if !refusals[index].apps.contains(label("app")) { refusals[index].apps.append(label("app")) }
        }
        return refusals.sorted { $0.count > $1.count }.prefix(Self.refusalLinesMax)
    }

    private func write(_ refusal: Refusal, to log: Log) {
        let rest = refusal.apps.count - Self.appsMax
        // Status 410 reports an unregistered or expired device token, which is normal.
        log.write(
            refusal.status == "410" ? .info : .warning, .pushesRefused,
            [
                .apnsStatus: Int(refusal.status).map { .integer($0) }, .apnsReason: .string(refusal.reason),
                .count: .integer(refusal.count),
                .apps: .string(
                    refusal.apps.prefix(Self.appsMax).joined(separator: " ") + (rest > 0 ? " and \(rest) more" : "")),
            ])
    }
}
