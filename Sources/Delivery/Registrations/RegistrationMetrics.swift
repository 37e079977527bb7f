import APNS
import EventLoop
import JSON
import Registrations
import Telemetry

/// The metrics of a consumer of registration commands. Label values contain no user and no token.
///
/// Loop-bound.
final class RegistrationMetrics {
    /// Bucket bounds for the number of commands in a batch.
    private static let batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    /// The label value for an unknown or missing word or error class.
    private static let none = "-"
    static let invalid = "invalid"
    private static let suspendedWord =
        RegistrationEvent.Change.suspended(APNSRefusal(status: 0, reason: "", timestamp: 0)).word
    /// The maximum reported age of a command. A limit is needed, since a producer may set any timestamp.
    private static let ageMillisecondsMax: Int64 = 30 * 86_400_000

    private struct Command: Hashable {
        var word: RegistrationCommand.Word?
        var outcome: String
        var isWorkers: Bool
    }

    private struct StoreError: Hashable {
        var code: StoreFault.Code
        var errorClass: String?
    }

    /// The age of the oldest unacknowledged command, in seconds.
    private let age: Gauge
    private let isStoreUp: Gauge
    private let batchDuration: Histogram
    private let batchSize: Histogram
    private var commands: LabeledCounters<Command>
    private var events: LabeledCounters<String>
    private var suspended: LabeledCounters<String>
    private var storeErrors: LabeledCounters<StoreError>

    init(_ registry: MetricsRegistry) {
        age = registry.gauge(
            "martlet_registration_command_age_seconds",
            help: "Time since the publish of the oldest unacknowledged registration command.")
        isStoreUp = registry.gauge(
            "martlet_registration_store_up", help: "Whether the registration store accepts changes.")
        batchDuration = registry.histogram(
            "martlet_registration_batch_seconds", help: "Duration of transactions that apply registration commands.")
        batchSize = registry.histogram(
            "martlet_registration_batch_commands", help: "Registration commands in a transaction.", unit: .plain,
            bounds: Self.batchSizes)
        commands = LabeledCounters(
            registry, "martlet_registration_commands_total",
            help: "Registration commands, by command, outcome and source."
        ) {
            [
                "command": $0.word?.rawValue ?? Self.none, "outcome": $0.outcome,
                "source": $0.isWorkers ? "worker" : "client",
            ]
        }
        events = LabeledCounters(
            registry, "martlet_registration_events_total", help: "Registration events published, by kind."
        ) { ["event": $0] }
        suspended = LabeledCounters(
            registry, "martlet_registrations_suspended_total",
            help: "Registrations suspended after repeated refusals by APNs, by app."
        ) { ["app": $0] }
        storeErrors = LabeledCounters(
            registry, "martlet_registration_store_errors_total",
            help: "Failed changes of the registration store, by code and error class."
        ) { ["code": $0.code.rawValue, "class": $0.errorClass ?? Self.none] }
    }

    /// Counts a command.
    ///
    /// - Parameters:
    ///   - word: the word of the command; nil if the command failed validation.
    ///   - outcome: the raw value of a `RegistrationReply`, or ``invalid``.
    ///   - isWorkers: whether a worker published the command.
    func command(_ word: RegistrationCommand.Word?, _ outcome: String, isWorkers: Bool) {
        commands.add(Command(word: word, outcome: outcome, isWorkers: isWorkers))
    }

    /// Counts an event that the broker confirmed.
    func published(_ event: StoredEvent) {
        // A stored event contains its word only in the JSON body.
        let word = (try? JSONDocument(event.body).root)?["event"]?.string
        events.add(word ?? Self.none)
        if word == Self.suspendedWord { suspended.add(event.app) }
    }

    func committed(_ count: Int, since begin: MonotonicTime, _ now: MonotonicTime) {
        batchDuration.observe(begin, now)
        batchSize.observe(count)
    }

    func failed(_ fault: StoreFault) { storeErrors.add(StoreError(code: fault.code, errorClass: fault.errorClass)) }

    func storeIsUp(_ isUp: Bool) { isStoreUp.set(isUp ? 1 : 0) }

    func oldestCommand(ageMilliseconds: Int64) {
        age.set(Int(min(ageMilliseconds, Self.ageMillisecondsMax) / 1000))
    }
}
