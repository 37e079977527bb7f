import AMQP
import Crypto
import EventLoop
import JSON
import TestKit

/// Checks a run against what Martlet promises. Each sentence that it returns is a broken promise.
struct SimulationOracle {
    /// A result, read.
    struct Told: Hashable {
        var outcome: String
        var attempts: Int64
        var possibleDuplicate: Bool
        var isDuplicate: Bool
        var finishedAt: Int64
        var deadClass: String?
    }

    /// RabbitMQ 4 drops a message that was delivered in vain more often.
    static let deliveriesMax = 20

    let report: SimulationReport

    func violations() -> [String] {
        var violations: [String] = []
        if report.ending != .done {
            violations.append("the run ended as \(report.ending) with \(report.unfinished) left")
        }
        if report.dropped > 0 { violations.append("the broker dropped \(report.dropped) messages") }
        if report.foreignPushes > 0 { violations.append("\(report.foreignPushes) pushes are of no message") }
        if report.foreignMessages > 0 { violations.append("\(report.foreignMessages) results are of no message") }
        if report.channelCrashes > 0 {
            violations.append("a reused consumer tag crashed \(report.channelCrashes) channels of the broker")
        }
        if report.deliveryCountMax > Self.deliveriesMax {
            violations.append("a message was delivered in vain \(report.deliveryCountMax) times")
        }
        if report.requeued > 0, !report.disturbances.contains(where: { $0.kind == .workerDrained }) {
            violations.append("\(report.requeued) deliveries were given back although no worker ended in order")
        }
        for (number, publish) in report.publishes.enumerated() {
            let message = report.messages[publish.message]
            violations += check(publish, message).map {
                "\(message.kind) \(publish.message) app\(message.app) \(message.environment), publish \(number): \($0)"
            }
        }
        for (index, message) in report.messages.enumerated() {
            violations += (checkTold(index, message) + checkPushes(index, message)).map {
                "\(message.kind) \(index) app\(message.app) \(message.environment): \($0)"
            }
        }
        return violations
    }

    private func check(_ publish: SimulationReport.Publish, _ message: SimulatedMessage) -> [String] {
        var violations: [String] = []
        var told: [Told] = []
        for result in publish.results {
            guard let one = read(result, message) else {
                violations.append("a result cannot be read")
                continue
            }
            told.append(one)
        }
        guard let last = told.last, let first = publish.results.first else { return violations }
        violations += checkOutcomes(told, publish, message)
        violations += checkRepeats(told, publish)
        violations += checkDeadLetters(told, publish, message)
        let late = publish.at.duration(to: first.at)
        let deadline = Deadline(report)
        let limit = publish.at.duration(to: deadline.time(of: publish, message, last, by: first.at))
        if late > limit {
            violations.append("was told after \(late) instead of \(limit)")
        }
        return violations
    }

    /// Each publish has a result. Which of two that are the same it belongs to no worker can tell.
    private func checkTold(_ index: Int, _ message: SimulatedMessage) -> [String] {
        let publishes = report.publishes.filter { $0.message == index }
        let told = publishes.reduce(0) { $0 + Set($1.results.map(\.body)).count }
        guard told < publishes.count else { return [] }
        let pushes = report.pushes[index].map { "\($0.status) to worker \($0.worker) at \($0.at)" }
        return [
            "published \(publishes.count) times and told \(told) times: published at \(publishes.map(\.at)), arrived "
                + "\(publishes.map(\.arrivals)) times, put back \(publishes.map(\.putBacks)) times, pushed \(pushes)"
        ]
    }

    private func checkOutcomes(
        _ told: [Told], _ publish: SimulationReport.Publish, _ message: SimulatedMessage
    ) -> [String] {
        let expected = Expectation(message, report.settings)
        return told.compactMap { one in
            if expected.outcomes.contains(one.outcome) { return nil }
            // Only what was lost with its channel three times here and three times there.
            if one.outcome == "unknown", one.deadClass == "quarantine", publish.putBacks >= Expectation.lossesMin {
                return nil
            }
            return "ended as \(one.outcome) \(one.deadClass ?? ""), put back \(publish.putBacks) times"
        }
    }

    /// Each delivery ends once; that it may have been one too many is said.
    private func checkRepeats(_ told: [Told], _ publish: SimulationReport.Publish) -> [String] {
        let different = Set(told)
        let deliveries = publish.arrivals + publish.putBacks
        if different.count > deliveries {
            return ["was told in \(different.count) ways, and delivered \(deliveries) times"]
        }
        if different.count(where: { !$0.possibleDuplicate && !$0.isDuplicate }) > 1 {
            return ["was told twice without a word that it may be a duplicate"]
        }
        return []
    }

    private func checkDeadLetters(
        _ told: [Told], _ publish: SimulationReport.Publish, _ message: SimulatedMessage
    ) -> [String] {
        if publish.deadLetters.contains(where: { $0.body != message.body }) {
            return ["has another's body as dead letter"]
        }
        let expected = Expectation(message, report.settings).deadLetters
        for letter in publish.deadLetters {
            if expected.contains(where: { letter.routingKey.hasPrefix("dead.\($0)") }) { continue }
            if letter.routingKey.hasPrefix("dead.quarantine."), publish.putBacks >= Expectation.lossesMin { continue }
            return ["is a dead letter as \(letter.routingKey)"]
        }
        let isDue = told.contains { $0.deadClass != nil && !$0.isDuplicate }
        return isDue && publish.deadLetters.isEmpty ? ["is no dead letter"] : []
    }

    private func checkPushes(_ index: Int, _ message: SimulatedMessage) -> [String] {
        let pushes = report.pushes[index]
        let publishes = report.publishes.filter { $0.message == index }
        if message.payload.isEmpty { return pushes.isEmpty ? [] : ["was sent \(pushes.count) times"] }
        var violations: [String] = []
        let told = publishes.flatMap(\.results).compactMap { read($0, message) }
        let accepted = pushes.count { $0.status == 200 }
        if accepted == 0, told.contains(where: { $0.outcome == "accepted" }) {
            violations.append("was told as accepted, which it was not")
        }
        if let needless = pushes.first(where: \.wasNeedless) {
            violations.append("was sent again at \(needless.at) although its worker had the answer")
        }
        if accepted > 1, publishes.count == 1, !told.contains(where: \.possibleDuplicate) {
            violations.append(
                "was accepted \(accepted) times without a word that it may be a duplicate, having arrived "
                    + "\(publishes.map(\.arrivals)) times and been put back \(publishes.map(\.putBacks)) times")
        }
        if message.kind == .perishable, !report.disturbances.contains(where: \.isOfClocks),
            let expiration = message.expiration, let late = pushes.first(where: { $0.unixSeconds > expiration })
        {
            violations.append("was sent \(late.unixSeconds - expiration) s after it expired")
        }
        return violations
    }

    private func read(_ result: SimulationReport.Result, _ message: SimulatedMessage) -> Told? {
        guard let root = try? JSONDocument(result.body).root, let outcome = root["outcome"]?.string,
            result.routingKey.hasPrefix("result.\(outcome)."), let attempts = root["attempts"]?.int64,
            let possibleDuplicate = root["possible_duplicate"]?.bool, let finishedAt = root["finished_at"]?.int64,
            root["id"]?.string == message.id.description
        else { return nil }
        return Told(
            outcome: outcome, attempts: attempts, possibleDuplicate: possibleDuplicate,
            isDuplicate: root["duplicate"]?.bool ?? false, finishedAt: finishedAt,
            deadClass: root["error"]?["class"]?.string)
    }
}

extension Disturbance {
    var isOfClocks: Bool {
        switch kind {
        case .clockWrong, .suspended: true
        default: false
        }
    }
}
