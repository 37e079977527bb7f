import AMQP
import APNS
import APNSProtocol
import BrokerTopology
import EventLoop
import Telemetry

/// The metrics of a lane. Label values never contain text from a peer.
///
/// Loop-bound.
final class LaneMetrics {
    private struct Refused: Hashable {
        var app: Int?
        var environment: APNSEnvironment?
        var status: Int
        var code: String
    }

    private struct BrokerFailure: Hashable {
        var purpose: BrokerSession.Purpose
        var isConnection: Bool
        var code: String
    }

    private struct Words: Hashable {
        var first: String
        var second: String
    }

    private static let answersHelp = "Answers to pushes, by configured app, environment, status and reason."
    private static let answersName = "martlet_apns_answers_total"

    /// The maximum number of apps with their own label value. The first apps of the configuration have one. All other
    /// apps share `otherApps`.
    static let appsNamedMax = MetricsRegistry.seriesPerFamilyMax / Outcome.allCases.count - 2
    static let otherApps = "other"

    private static let outcomes = Outcome.allCases
    private static let environments = APNSEnvironment.allCases

    /// The metrics without app and queue labels.
    let counters: LaneCounters
    /// Two cells for each queue. Redeliveries have odd indices.
    private var deliveries: CounterTable
    /// A cell for each app and outcome. The unknown app is first.
    private var messages: CounterTable
    /// A cell for each app and environment.
    private var accepted: CounterTable
    private var publishes: CounterTable
    /// Two cells for each app. Waits at the broker have odd indices.
    private var waits: CounterTable
    private var refused: LabeledCounters<Refused>
    private var deadLetters: LabeledCounters<Words>
    private var retries: LabeledCounters<Words>
    private var brokerFailures: LabeledCounters<BrokerFailure>
    private var brokerConnects: LabeledCounters<BrokerSession.Purpose>

    init(_ configuration: LaneConfiguration, _ counters: LaneCounters) {
        self.counters = counters
        let registry = counters.registry
        let queues = configuration.consumers.map(\.queue)
        let (apps, appCount) = (configuration.apps, configuration.apps.count)
        func name(of app: Int?) -> String { app.map { Self.name(of: $0, apps) } ?? "-" }
        deliveries = CounterTable(
            registry, "martlet_deliveries_total", help: "Deliveries, by queue and redelivered flag.",
            count: queues.count * 2
        ) { ["queue": queues[$0 / 2], "redelivered": $0 % 2 == 1 ? "true" : "false"] }
        messages = CounterTable(
            registry, "martlet_messages_total", help: "Completed requests, by outcome and configured app.",
            count: (appCount + 1) * Self.outcomes.count
        ) { number in
            let (app, outcome) = number.quotientAndRemainder(dividingBy: Self.outcomes.count)
            return ["outcome": Self.outcomes[outcome].rawValue, "app": name(of: app == 0 ? nil : app - 1)]
        }
        accepted = CounterTable(
            registry, Self.answersName, help: Self.answersHelp, count: appCount * Self.environments.count
        ) { number in
            let (app, environment) = number.quotientAndRemainder(dividingBy: Self.environments.count)
            return [
                "app": name(of: app), "environment": Self.environments[environment].rawValue, "status": "200",
                "reason": "",
            ]
        }
        publishes = CounterTable(
            registry, "martlet_publish_total", help: "Publishes, by result.", count: PublishOutcome.words.count
        ) { ["result": PublishOutcome.words[$0]] }
        waits = CounterTable(
            registry, "martlet_app_limited_total",
            help: "Deliveries that waited for a permit of their app, in the worker or at the broker.",
            count: appCount * 2
        ) { ["app": name(of: $0 / 2), "place": $0 % 2 == 1 ? "broker" : "worker"] }
        refused = LabeledCounters(registry, Self.answersName, help: Self.answersHelp) {
            [
                "app": name(of: $0.app), "environment": $0.environment?.rawValue ?? "-", "status": "\($0.status)",
                "reason": $0.code,
            ]
        }
        deadLetters = LabeledCounters(
            registry, "martlet_dead_total", help: "Dead letters published, by class and code."
        ) { ["class": $0.first, "code": $0.second] }
        retries = LabeledCounters(
            registry, "martlet_retry_total", help: "Requests published to a wait queue, by delay and reason."
        ) { ["delay": $0.first, "reason": $0.second] }
        brokerFailures = LabeledCounters(
            registry, "martlet_amqp_failures_total",
            help: "Failures of broker connections and channels, by role, part and code."
        ) { ["role": $0.purpose.rawValue, "part": $0.isConnection ? "connection" : "channel", "code": $0.code] }
        brokerConnects = LabeledCounters(
            registry, "martlet_amqp_connects_total", help: "Opened broker connections, by role."
        ) { ["role": $0.rawValue] }
    }

    /// Returns the label value of an app.
    static func name(of app: AppDirectory.Index, _ apps: AppDirectory) -> String {
        app < appsNamedMax ? apps[app].bundleID : otherApps
    }

    /// Counts the opened connections, and the failures of connections and channels.
    ///
    /// - Parameter isConnection: true if the connection changed; false if a channel on the connection changed.
    func brokerStatusChanged(_ state: BrokerStatus, _ purpose: BrokerSession.Purpose, isConnection: Bool) {
        switch state {
        case .waiting(let error, _):
            let code = error.replyCode == 0 ? error.code.rawValue : "\(error.replyCode)"
            brokerFailures.add(BrokerFailure(purpose: purpose, isConnection: isConnection, code: code))
        case .ready where isConnection: brokerConnects.add(purpose)
        case .idle, .connecting, .ready, .blocked, .disconnected, .closed: break
        }
    }

    func delivered(from source: Int, isRedelivered: Bool) {
        deliveries.add(source * 2 + (isRedelivered ? 1 : 0))
    }

    /// Counts a request that waits for a permit of its app.
    func waits(_ app: AppDirectory.Index, atBroker: Bool) {
        waits.add(app * 2 + (atBroker ? 1 : 0))
    }

    func ended(_ record: DeliveryRecord, _ outcome: Outcome) {
        messages.add((record.configuredApp.map { $0 + 1 } ?? 0) * Self.outcomes.count + outcome.number)
    }

    func answered(_ answer: PushAnswer, _ record: DeliveryRecord) {
        let (app, environment) = (record.configuredApp, record.environment)
        guard answer.status == 200, let app, let environment else {
            return refused.add(Refused(app: app, environment: environment, status: answer.status, code: answer.code))
        }
        accepted.add(app * Self.environments.count + environment.number)
    }

    func deadLetter(_ reason: DeadLetterReason) {
        deadLetters.add(Words(first: reason.deadClass, second: reason.code))
    }

    func retry(_ wait: Wait) {
        retries.add(Words(first: wait.delay.label, second: wait.reason))
    }

    func published(_ outcome: PublishOutcome, since begin: MonotonicTime, _ now: MonotonicTime) {
        publishes.add(outcome.number)
        if case .confirmed = outcome { counters.confirms.observe(begin, now) }
    }
}

extension DeliveryRecord {
    fileprivate var configuredApp: Int? {
        if case .configured(let app) = app { app } else { nil }
    }
}
