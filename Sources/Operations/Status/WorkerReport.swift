import Delivery
import HTTPClient
import JSON
import Telemetry

/// What a worker answered to `/status`, as far as people look at it.
struct WorkerReport: Sendable {
    struct HeldUp: Sendable, Hashable {
        var route: String
        var code: String
        var sentence: String
        /// How long; nil where the worker does not report it.
        var seconds: Int?
    }

    /// An app with more to push than its limits allow.
    struct LimitedApp: Sendable, Hashable {
        var app: String
        var inFlight: Int
        /// It has been at its limits for so long.
        var seconds: Int
        /// Until what waits at the broker is to be back.
        var secondsBehind: Int
    }

    struct Queue: Sendable, Hashable {
        var name: String
        /// The queue whose shard it is.
        var shardOf: String?
        var messages: Int
        var consumers: Int
        /// Of shards that are shown as one: which has the most, and how many.
        var fullest: String?
    }

    /// Lanes of configurations before the one in force.
    struct Leaving: Sendable, Hashable {
        var lanes: Int
        /// Deliveries that they hold.
        var inFlight: Int
        /// Why what became of these cannot be published.
        var failure: String?

        init(_ lanes: [JSONValue]) {
            self.lanes = lanes.count
            inFlight = lanes.reduce(0) { $0 &+ ($1["in_flight"]?.int ?? 0) }
            failure = lanes.lazy.compactMap { $0["publishing_failure"]?.string }.first
        }
    }

    /// As it was answered, on one line.
    let json: String
    var worker = "-"
    var phase = "-"
    var isReady = false
    var reasons: [String] = []
    var uptimeSeconds = 0
    var lanes = 0
    var inFlight = 0
    var leaving = Leaving([])
    var totals = WorkerTotals()
    var heldUp: [HeldUp] = []
    var limitedApps: [LimitedApp] = []
    var paused: [String] = []
    /// Of those, which say more.
    var pauses: [PauseReport] = []
    var broker = "-"
    /// First part of the names of its queues; nil where the worker's version does not report it.
    var prefix: String?
    var queues: [Queue] = []
    /// Since the worker has asked for them.
    var queuesSecondsOld: Int?

    /// - Throws: what is wrong with the answer.
    init(_ answer: HTTPResponse) throws(WorkerReportError) {
        guard answer.isSuccess, let document = try? JSONDocument(answer.body), document.root["worker"] != nil else {
            throw WorkerReportError(message: "what answers there (\(answer.status)) is no worker's admin endpoint")
        }
        var line = JSONWriter(capacity: answer.body.count)
        // Line ends stand between values only: strings have them escaped.
        line.raw(escaping: answer.text.utf8.filter { $0 != UInt8(ascii: "\n") })
        json = String(decoding: line.bytes, as: UTF8.self)
        let root = document.root
        worker = root["worker"]?.string ?? worker
        phase = root["phase"]?.string ?? phase
        isReady = root["ready"]?.bool ?? isReady
        reasons = root["reasons"]?.elements.compactMap(\.string) ?? []
        uptimeSeconds = root["uptime_seconds"]?.int ?? 0
        lanes = root["lanes"]?.count ?? 0
        inFlight = root["in_flight"]?.int ?? 0
        leaving = Leaving(root["lanes_leaving"].map { Array($0.elements) } ?? [])
        totals = root["totals"].map { WorkerTotals($0) } ?? totals
        paused = root["paused"]?.elements.compactMap(\.string) ?? []
        pauses =
            root["pauses"]?.elements.map {
                PauseReport(
                    target: $0["target"]?.string ?? "-",
                    note: PauseNote(by: $0["by"]?.string, reason: $0["reason"]?.string),
                    seconds: $0["seconds_paused"]?.int ?? 0)
            } ?? []
        heldUp =
            root["breakers"]?.elements.map {
                HeldUp(
                    route: $0["route"]?.string ?? "-", code: $0["code"]?.string ?? "-",
                    sentence: $0["sentence"]?.string ?? "", seconds: $0["seconds_open"]?.int ?? 0)
            } ?? []
        limitedApps =
            root["limited_apps"]?.elements.map {
                LimitedApp(
                    app: $0["app"]?.string ?? "-", inFlight: $0["in_flight"]?.int ?? 0,
                    seconds: $0["seconds_limited"]?.int ?? 0, secondsBehind: $0["seconds_behind"]?.int ?? 0)
            } ?? []
        broker = root["broker"]?.string ?? broker
        prefix = root["prefix"]?.string
        queues =
            root["queues"]?.elements.map {
                Queue(
                    name: $0["name"]?.string ?? "-", shardOf: $0["shard_of"]?.string,
                    messages: $0["messages"]?.int ?? 0, consumers: $0["consumers"]?.int ?? 0)
            } ?? []
        queuesSecondsOld = root["queues_seconds_old"]?.int
    }
}

extension WorkerReport {
    /// Whether the worker may consume from the queues with this prefix at this broker.
    func uses(broker: String, prefix: String) -> Bool {
        self.broker == broker && (self.prefix ?? prefix) == prefix
    }
}

extension WorkerAddress {
    /// What the worker answers to `/status`; nil for a socket that its process has left behind.
    ///
    /// - Parameter isNamed: whether the operator named the worker, so that a socket without a process is an error, too.
    func report(_ client: HTTPClient, isNamed: Bool) -> Result<WorkerReport, WorkerReportError>? {
        let answer: HTTPResponse
        do {
            answer = try ask(client, .get, "status")
        } catch {
            if !isNamed, error.code == .cannotConnect { return nil }
            return .failure(WorkerReportError(message: error.message))
        }
        return Result { () throws(WorkerReportError) in try WorkerReport(answer) }
    }
}

struct WorkerReportError: Error {
    var message: String
}

extension WorkerTotals {
    init(_ json: JSONValue) {
        self.init()
        func count(_ name: String) -> Int { json[key: name]?.int ?? 0 }
        taken = count("taken")
        ended = Outcome.allCases.map { count($0.rawValue) }
        deadLetters = count("dead_letters")
        retried = count("retried")
        held = count("held")
        quarantined = count("quarantined")
        requeued = count("requeued")
        duplicates = count("duplicates")
        unknownOutcomes = count("unknown_outcomes")
        publishRepeats = count("publish_repeats")
        guard let latency = json["latency"], let bounds = latency["bounds_nanoseconds"]?.elements.compactMap(\.int),
            let counts = latency["counts"]?.elements.compactMap(\.int), counts.count == bounds.count + 1,
            bounds == bounds.sorted(), bounds.first ?? 0 >= 0, counts.allSatisfy({ 0...(1 << 40) ~= $0 })
        else { return }
        self.latency = HistogramReading(
            unit: .nanoseconds, bounds: bounds, counts: counts, sum: latency["sum_nanoseconds"]?.int ?? 0)
    }
}
