import AMQP
import BrokerTopology
import ControlProtocol
import Crypto
import Delivery
import EventLoop
import JSON
import Registrations
import Text

/// The state of the fleet as JSON. Reports may be forged, so lists and texts are limited.
struct FleetJSON {
    static let workersMax = 1000
    private static let listMax = 100

    let watch: FleetWatch
    /// The history; nil if it is off.
    let history: HistoryFeed?
    let now: Now

    private var workers: [FleetView.Worker] { watch.view.workers(at: now.monotonic) }

    private func seconds(since time: MonotonicTime) -> Int { Int(time.duration(to: now.monotonic).components.seconds) }

    // MARK: /api/fleet

    func fleet() -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        writeAsOf(&json)
        json.beginObject("pauses")
        json.key("revision")
        if let pauses = watch.pauses { json.int(Int64(pauses.revision.number)) } else { json.null() }
        json.key("list")
        writePauses(&json)
        json.endObject()
        json.member("unreported_consumers", watch.unreportedConsumers)
        let workers = workers
        json.member("workers_total", workers.count)
        json.list("workers", workers.prefix(Self.workersMax)) { json, worker in write(worker, to: &json) }
        json.endObject()
        return json.bytes
    }

    /// Writes the time of the state and the state of the broker.
    private func writeAsOf(_ json: inout JSONWriter) {
        switch watch.link {
        case .connected:
            // Whole seconds, so that requests within a second have the same ETag.
            json.member("as_of", now.unixSeconds * 1000)
            json.beginObject("broker")
            json.member("connected", true)
            json.member("away_seconds", 0)
            json.key("reason")
            json.null()
        case .away(let since, let reason):
            json.member("as_of", since.unixMilliseconds)
            json.beginObject("broker")
            json.member("connected", false)
            json.member("away_seconds", seconds(since: since.monotonic))
            json.key("reason")
            if let reason { json.string(reason.printable) } else { json.null() }
        }
        json.endObject()
    }

    private func writePauses(_ json: inout JSONWriter) {
        json.array(watch.pauses?.inForce(at: now.unixMilliseconds) ?? []) { json, pause in
            json.beginObject()
            json.member("scope", pause.scope.description)
            json.member("by", pause.by)
            json.member("why", pause.why)
            json.member("since", pause.since)
            json.key("until")
            if let until = pause.until { json.int(until) } else { json.null() }
            json.endObject()
        }
    }

    private func write(_ worker: FleetView.Worker, to json: inout JSONWriter) {
        let (report, status) = (worker.report, worker.report.status)
        json.beginObject()
        json.member("worker", report.worker)
        json.member("boot_id", report.bootID.description)
        json.member("version", Self.text(status.version))
        json.member("presence", worker.presence(at: now.monotonic).word)
        json.member("reported_seconds_ago", seconds(since: worker.reportedAt))
        json.member("uptime_seconds", status.uptimeSeconds)
        json.member("phase", Self.text(status.phase.rawValue))
        json.member("ready", status.isReady)
        json.list("reasons", status.reasons.prefix(Self.listMax)) { $0.string(Self.text($1)) }
        json.member("in_flight", status.inFlight)
        json.key("pauses_revision")
        if let revision = report.pauses { json.int(Int64(revision.number)) } else { json.null() }
        json.member("clock_skew_ms", skew(of: worker))
        json.member("consumers", report.consumers)
        json.list("queues", report.consumedQueues.prefix(Self.listMax)) { $0.string(Self.text($1.name)) }
        writeTotals(status.totals, &json)
        let rates = OutcomeRates(worker.rates ?? [])
        json.key("rates")
        if worker.rates != nil { write(rates, to: &json) } else { json.null() }
        json.list("breakers", status.breakers.prefix(Self.listMax)) { json, breaker in
            json.beginObject()
            json.member("route", Self.text(breaker.route))
            json.member("code", Self.text(breaker.code))
            json.member("sentence", Self.text(breaker.sentence))
            json.member("seconds_open", breaker.secondsOpen)
            json.endObject()
        }
        json.list("limited_apps", status.limitedApps.prefix(Self.listMax)) { json, app in
            json.beginObject()
            json.member("app", Self.text(app.bundleID))
            json.member("in_flight", app.inFlight)
            json.member("waiting", app.waiting)
            json.member("seconds_limited", app.secondsLimited)
            json.member("seconds_behind", app.secondsBehind)
            json.endObject()
        }
        json.list("pauses", status.pauses.lazy.filter { !$0.isOfFleet }.prefix(Self.listMax)) { json, pause in
            json.beginObject()
            json.member("scope", Self.text(pause.target))
            json.member("by", Self.text(pause.note.by ?? "-"))
            json.member("why", Self.text(pause.note.reason ?? "-"))
            json.member("seconds_paused", pause.seconds)
            json.endObject()
        }
        json.endObject()
    }

    /// Returns the difference between the worker's clock and this clock at the arrival of the report. The time of the
    /// transport counts too.
    private func skew(of worker: FleetView.Worker) -> Int64 {
        let age = worker.reportedAt.duration(to: now.monotonic).components
        let arrival = now.unixMilliseconds - age.seconds * 1000 - age.attoseconds / 1_000_000_000_000_000
        return worker.report.sentAt - arrival
    }

    private func writeTotals(_ totals: WorkerTotals, _ json: inout JSONWriter) {
        json.beginObject("totals")
        json.member("taken", totals.taken)
        for outcome in Outcome.allCases {
            json.key(outcome.rawValue)
            json.int(Int64(totals.ended(outcome)))
        }
        json.member("dead_letters", totals.deadLetters)
        json.member("retried", totals.retried)
        json.member("held", totals.held)
        json.member("quarantined", totals.quarantined)
        json.member("requeued", totals.requeued)
        json.member("duplicates", totals.duplicates)
        json.endObject()
    }

    private func write(_ rates: OutcomeRates, to json: inout JSONWriter) {
        json.beginObject()
        for (name, rate) in [("accepted", rates.accepted), ("refused", rates.refused), ("failed", rates.failed)] {
            json.key(name)
            json.double(Self.rounded(rate))
        }
        json.endObject()
    }

    private static func rounded(_ rate: Double) -> Double { (rate * 10).rounded() / 10 }

    private static func text(_ text: String) -> String { text.printable.cut(to: FleetLimits.sentenceBytesMax) }

    // MARK: /api/causes

    func causes() -> [UInt8] {
        let workers = workers
        let reporting = workers.filter { $0.presence(at: now.monotonic) == .reporting }
        var json = JSONWriter()
        json.beginObject()
        writeAsOf(&json)
        json.list("causes", CauseCard.cards(of: reporting, at: now.monotonic)) { json, card in
            json.beginObject()
            json.member("code", card.code)
            json.member("scope", card.scope.description)
            json.member("route", card.route)
            json.member("sentence", card.sentence)
            json.optional("remedy", card.remedy)
            json.list("apps", card.apps.sorted()) { $0.string($1) }
            json.member("since_seconds", card.seconds)
            json.member("workers", card.workers)
            json.member("workers_total", reporting.count)
            json.optional("messages_waiting", history?.waits.map { Int64(card.waiting(in: $0)) })
            json.key("next_probe_seconds")
            json.null()
            json.endObject()
        }
        json.key("pauses")
        writePauses(&json)
        let silent = workers.filter { $0.presence(at: now.monotonic) == .silent }
        json.list("silent", silent.prefix(Self.workersMax)) { json, worker in
            json.beginObject()
            json.member("worker", worker.report.worker)
            json.member("reported_seconds_ago", seconds(since: worker.reportedAt))
            json.key("pauses_revision")
            if let revision = worker.report.pauses { json.int(Int64(revision.number)) } else { json.null() }
            json.endObject()
        }
        let rates = reporting.reduce(OutcomeRates()) { $0 + OutcomeRates($1.rates ?? []) }
        json.beginObject("totals")
        for (name, rate) in [
            ("accepted_per_second", rates.accepted), ("refused_per_second", rates.refused),
            ("failed_per_second", rates.failed),
        ] {
            json.key(name)
            json.double(Self.rounded(rate))
        }
        json.member("workers_reporting", reporting.count)
        json.member("workers_silent", silent.count)
        json.optional("waiting", watch.queues.waiting.map(Int64.init))
        json.optional("dead_letters", watch.queues.messages(in: .fixed(.dead)).map(Int64.init))
        json.optional("journal_seconds_behind", history?.secondsBehind.map(Int64.init))
        json.endObject()
        json.key("history_problem")
        if let problem = history?.problem {
            json.beginObject()
            json.member("code", problem.code)
            json.member("sentence", Self.text(problem.sentence))
            json.optional("remedy", problem.remedy)
            json.member("since_seconds", seconds(since: problem.since))
            json.endObject()
        } else {
            json.null()
        }
        json.endObject()
        return json.bytes
    }

    // MARK: /api/queues, /api/credentials

    func queues() -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("as_of")
        if let readAt = watch.queues.readAt { json.int(readAt) } else { json.null() }
        let view = watch.view
        json.list("queues", watch.queues.queues) { json, queue in
            let answer = watch.queues.answers[queue.name]
            json.beginObject()
            json.member("name", queue.name)
            json.member("role", queue.kind.word)
            json.key("messages")
            if case .status(let messages, _) = answer, !queue.kind.isStream {
                json.int(Int64(messages))
            } else {
                json.null()
            }
            json.key("consumers")
            if case .status(_, let consumers) = answer { json.int(Int64(consumers)) } else { json.null() }
            // Reports name only consumers of request queues.
            json.optional(
                "reported_consumers",
                queue.kind == .requests ? Int64(view.consumers(of: queue.name, at: now.monotonic)) : nil)
            json.key("error")
            if case .refused(let sentence) = answer { json.string(sentence.printable) } else { json.null() }
            json.endObject()
        }
        json.endObject()
        return json.bytes
    }

    func credentials() -> [UInt8] {
        let reporting = workers.filter { $0.presence(at: now.monotonic) == .reporting }
        let certificates = Self.counted(reporting) { $0.certificates }
        let keys = Self.counted(reporting) { $0.registrations?.dataKeys ?? [] }
        var json = JSONWriter()
        json.beginObject()
        json.list("certificates", certificates) { json, certificate in
            json.beginObject()
            json.member("name", Self.text(certificate.value.name))
            json.member("not_after_unix_seconds", certificate.value.notAfterSeconds)
            json.member("workers", certificate.workers)
            json.endObject()
        }
        json.list("keys", keys) { json, key in
            json.beginObject()
            json.member("kind", "registrations")
            json.member("id", key.value.id)
            json.member("fingerprint", Self.text(key.value.fingerprint))
            json.member("active", key.value.isActive)
            json.member("workers", key.workers)
            json.endObject()
        }
        json.endObject()
        return json.bytes
    }

    /// Returns the different values of all workers, each with the number of its workers.
    private static func counted<Value: Hashable>(
        _ workers: [FleetView.Worker], _ values: (WorkerStatus) -> [Value]
    ) -> [(value: Value, workers: Int)] {
        var order: [Value] = []
        var counts: [Value: Int] = [:]
        for worker in workers {
            var seen: Set<Value> = []
            for value in values(worker.report.status).prefix(listMax) where seen.insert(value).inserted {
                if counts[value] == nil {
                    guard order.count < workersMax else { continue }
                    order.append(value)
                }
                counts[value, default: 0] += 1
            }
        }
        return order.map { ($0, counts[$0] ?? 0) }
    }
}

extension FleetView.Presence {
    var word: String {
        switch self {
        case .reporting: "reporting"
        case .silent: "silent"
        case .ended: "ended"
        }
    }
}
