import AMQP
import Crypto
import EventLoop
import JSON
import TestKit

/// A check of a run against Martlet's guarantees.
struct SimulationOracle {
    /// The checked members of a result.
    struct ReadResult: Hashable {
        var outcome: String
        var attempts: Int64
        var possibleDuplicate: Bool
        var isDuplicate: Bool
        var finishedAt: Int64
        var deadClass: String?
    }

    /// The maximum number of failed deliveries. After more, RabbitMQ 4 removes a message from its queue by default.
    static let deliveriesMax = 20

    let report: SimulationReport

    /// Returns one description for each violation of the guarantees.
    func violations() -> [String] {
        var violations: [String] = []
        if report.ending != .done {
            violations.append("the run ended as \(report.ending) with unfinished messages: \(report.unfinished)")
        }
        if report.dropped > 0 { violations.append("the broker dropped \(report.dropped) messages") }
        if report.foreignPushes > 0 { violations.append("\(report.foreignPushes) pushes match no request") }
        if report.foreignMessages > 0 {
            violations.append("\(report.foreignMessages) results or dead letters match no publish")
        }
        if report.channelCrashes > 0 {
            violations.append("a reused consumer tag crashed \(report.channelCrashes) channels of the broker")
        }
        if report.deliveryCountMax > Self.deliveriesMax {
            violations.append("a message had \(report.deliveryCountMax) failed deliveries")
        }
        if report.requeued > 0, !report.disturbances.contains(where: { $0.kind == .workerDrained }) {
            violations.append("\(report.requeued) deliveries were requeued although no worker drained")
        }
        for (number, publish) in report.publishes.enumerated() {
            let message = report.messages[publish.message]
            violations += check(publish, message).map {
                "\(message.kind) \(publish.message) app\(message.app) \(message.environment), publish \(number): \($0)"
            }
        }
        for (index, message) in report.messages.enumerated() {
            violations += (checkResults(index, message) + checkPushes(index, message)).map {
                "\(message.kind) \(index) app\(message.app) \(message.environment): \($0)"
            }
        }
        return violations + violationsOfRegistrations()
    }

    private func check(_ publish: SimulationReport.Publish, _ message: SimulatedMessage) -> [String] {
        var violations: [String] = []
        var results: [ReadResult] = []
        for result in publish.results {
            guard let one = read(result, message) else {
                violations.append("a result cannot be read")
                continue
            }
            results.append(one)
        }
        guard let last = results.last, let first = publish.results.first else { return violations }
        violations += checkOutcomes(results, publish, message)
        violations += checkRepeats(results, publish)
        violations += checkDeadLetters(results, publish, message)
        let late = publish.at.duration(to: first.at)
        let deadline = Deadline(report)
        let limit = publish.at.duration(to: deadline.time(of: publish, message, last, by: first.at))
        if late > limit {
            violations.append("had its result after \(late) instead of \(limit)")
        }
        return violations
    }

    /// Checks that a request has at least as many results as publishes. A result does not identify one of two identical
    /// publishes.
    private func checkResults(_ index: Int, _ message: SimulatedMessage) -> [String] {
        let publishes = report.publishes.filter { $0.message == index }
        let resultCount = publishes.reduce(0) { $0 + Set($1.results.map(\.body)).count }
        guard resultCount < publishes.count else { return [] }
        let pushes = report.pushes[index].map { "\($0.status) to worker \($0.worker) at \($0.at)" }
        return [
            "published \(publishes.count) times with \(resultCount) results: published at \(publishes.map(\.at)), arrived "
                + "\(publishes.map(\.arrivals)) times, requeued \(publishes.map(\.requeues)) times, pushed \(pushes)"
        ]
    }

    private func checkOutcomes(
        _ results: [ReadResult], _ publish: SimulationReport.Publish, _ message: SimulatedMessage
    ) -> [String] {
        let expected = Expectation(message, report.settings)
        return results.compactMap { one in
            if expected.outcomes.contains(one.outcome) { return nil }
            // A request that lost its channel repeatedly, before and in the quarantine, may be given up.
            if one.outcome == "unknown", one.deadClass == "quarantine", publish.requeues >= Expectation.lossesMin {
                return nil
            }
            return "ended as \(one.outcome) \(one.deadClass ?? ""), requeued \(publish.requeues) times"
        }
    }

    /// Checks that there are no more different results than deliveries. Checks that at most one result is marked
    /// neither as a duplicate nor as a possible duplicate.
    private func checkRepeats(_ results: [ReadResult], _ publish: SimulationReport.Publish) -> [String] {
        let different = Set(results)
        let deliveries = publish.arrivals + publish.requeues
        if different.count > deliveries {
            return ["has \(different.count) different results of \(deliveries) deliveries"]
        }
        if different.count(where: { !$0.possibleDuplicate && !$0.isDuplicate }) > 1 {
            return ["has two results that are not marked as possible duplicates"]
        }
        return []
    }

    private func checkDeadLetters(
        _ results: [ReadResult], _ publish: SimulationReport.Publish, _ message: SimulatedMessage
    ) -> [String] {
        if publish.deadLetters.contains(where: { $0.body != message.body }) {
            return ["has a dead letter with another body"]
        }
        let expected = Expectation(message, report.settings).deadLetters
        for letter in publish.deadLetters {
            if expected.contains(where: { letter.routingKey.hasPrefix("dead.\($0)") }) { continue }
            if letter.routingKey.hasPrefix("dead.quarantine."), publish.requeues >= Expectation.lossesMin { continue }
            return ["has an unexpected dead letter \(letter.routingKey)"]
        }
        let isDue = results.contains { $0.deadClass != nil && !$0.isDuplicate }
        return isDue && publish.deadLetters.isEmpty ? ["has no dead letter"] : []
    }

    private func checkPushes(_ index: Int, _ message: SimulatedMessage) -> [String] {
        let pushes = report.pushes[index]
        let publishes = report.publishes.filter { $0.message == index }
        if message.payload.isEmpty { return pushes.isEmpty ? [] : ["was sent \(pushes.count) times"] }
        var violations: [String] = []
        let results = publishes.flatMap(\.results).compactMap { read($0, message) }
        let accepted = pushes.count { $0.status == 200 }
        if accepted == 0, results.contains(where: { $0.outcome == "accepted" }) {
            violations.append("has the result accepted although APNs did not accept it")
        }
        if let needless = pushes.first(where: \.wasNeedless) {
            violations.append("was sent again at \(needless.at) although its worker had the answer")
        }
        if accepted > 1, publishes.count == 1, !results.contains(where: \.possibleDuplicate) {
            violations.append(
                "was accepted \(accepted) times without a possible duplicate in its results, having arrived "
                    + "\(publishes.map(\.arrivals)) times and been requeued \(publishes.map(\.requeues)) times")
        }
        if message.kind == .perishable, !report.disturbances.contains(where: \.isOfClocks),
            let expiration = message.expiration, let late = pushes.first(where: { $0.unixSeconds > expiration })
        {
            violations.append("was sent \(late.unixSeconds - expiration) s after it expired")
        }
        return violations
    }

    private func read(_ result: SimulationReport.Result, _ message: SimulatedMessage) -> ReadResult? {
        guard let root = try? JSONDocument(result.body).root, let outcome = root["outcome"]?.string,
            result.routingKey.hasPrefix("result.\(outcome)."), let attempts = root["attempts"]?.int64,
            let possibleDuplicate = root["possible_duplicate"]?.bool, let finishedAt = root["finished_at"]?.int64,
            root["id"]?.string == message.id.description
        else { return nil }
        return ReadResult(
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
