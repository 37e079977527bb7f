import AMQP
import APNS
import APNSProtocol
import Telemetry

/// What a lane counts by labels that only come up as it runs. None of them is foreign text.
struct LaneLabels {
    private struct Delivered: Hashable {
        var source: Int
        var isRedelivered: Bool
    }

    private struct Ended: Hashable {
        var app: Int?
        var outcome: Outcome
    }

    private struct Answered: Hashable {
        var app: Int?
        var environment: APNSEnvironment?
        var status: Int
        var code: String?
    }

    private struct Words: Hashable {
        var first: String
        var second: String
    }

    private var deliveries: LabeledCounters<Delivered>
    private var messages: LabeledCounters<Ended>
    private var answers: LabeledCounters<Answered>
    private var deadLetters: LabeledCounters<Words>
    private var retries: LabeledCounters<Words>
    private var publishes: LabeledCounters<String>

    init(_ configuration: LaneConfiguration, _ registry: MetricsRegistry) {
        let queues = configuration.consumers.map(\.queue)
        let apps = configuration.apps
        func name(of app: Int?) -> String { app.map { apps[$0].bundleID } ?? "-" }
        deliveries = LabeledCounters(registry, "martlet_deliveries_total", help: "Messages taken, by queue.") {
            ["queue": queues[$0.source], "redelivered": $0.isRedelivered ? "true" : "false"]
        }
        messages = LabeledCounters(
            registry, "martlet_messages_total", help: "Messages that ended, by outcome and configured app."
        ) { ["outcome": $0.outcome.rawValue, "app": name(of: $0.app)] }
        answers = LabeledCounters(
            registry, "martlet_apns_answers_total", help: "Answers of APNs, by status, reason and configured app."
        ) {
            [
                "app": name(of: $0.app), "environment": $0.environment?.rawValue ?? "-", "status": "\($0.status)",
                "reason": $0.code ?? "",
            ]
        }
        deadLetters = LabeledCounters(
            registry, "martlet_dead_total", help: "Dead letters published, by class and code."
        ) { ["class": $0.first, "code": $0.second] }
        retries = LabeledCounters(
            registry, "martlet_retry_total", help: "Messages published to a wait queue, by delay and reason."
        ) { ["delay": $0.first, "reason": $0.second] }
        publishes = LabeledCounters(
            registry, "martlet_publish_total", help: "What became of publishes."
        ) { ["result": $0] }
    }

    mutating func delivered(from source: Int, isRedelivered: Bool) {
        deliveries.add(Delivered(source: source, isRedelivered: isRedelivered))
    }

    mutating func ended(_ record: DeliveryRecord, _ outcome: Outcome) {
        messages.add(Ended(app: record.configuredApp, outcome: outcome))
    }

    mutating func answered(_ answer: PushAnswer, _ record: DeliveryRecord) {
        answers.add(
            Answered(
                app: record.configuredApp, environment: record.environment, status: answer.status,
                code: answer.status == 200 ? nil : answer.code))
    }

    mutating func deadLetter(_ reason: DeadLetterReason) {
        deadLetters.add(Words(first: reason.deadClass, second: reason.code))
    }

    mutating func retry(_ wait: Wait) {
        retries.add(Words(first: wait.delay.label, second: wait.reason))
    }

    mutating func published(_ outcome: PublishOutcome) {
        publishes.add(outcome.word)
    }
}

extension DeliveryRecord {
    fileprivate var configuredApp: Int? {
        if case .configured(let app) = app { app } else { nil }
    }
}

extension PublishOutcome {
    fileprivate var word: String {
        switch self {
        case .confirmed: "confirmed"
        case .returned: "returned"
        case .nacked: "nacked"
        case .unknown: "unknown"
        case .notSent: "not_sent"
        case .refused: "refused"
        }
    }
}
