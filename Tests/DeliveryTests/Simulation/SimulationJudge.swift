import AMQP
import Crypto
import EventLoop
import JSON
import TestKit

/// Checks a run against what Martlet promises. Each sentence that it returns is a broken promise.
struct SimulationJudge {
    let report: Simulation.Report

    private struct Told: Hashable {
        var outcome: String
        var attempts: Int64
        var possibleDuplicate: Bool
        var finishedAt: Int64
    }

    func violations() -> [String] {
        var violations: [String] = []
        if report.ending != .done {
            violations.append("the run ended as \(report.ending) with \(report.unfinished) left")
        }
        if report.dropped > 0 { violations.append("the broker dropped \(report.dropped) messages") }
        if report.cuts < Simulation.cutsMin { violations.append("only \(report.cuts) connections were cut") }
        var results: [UUIDValue: [Told]] = [:]
        for result in report.results {
            guard let (id, told) = read(result) else {
                violations.append("a result cannot be read")
                continue
            }
            results[id, default: []].append(told)
        }
        for message in report.messages {
            let told = results[message.id] ?? []
            violations += check(message, told).map { "\(message.kind) \(message.id): \($0)" }
        }
        return violations
    }

    private func check(_ message: SimulatedMessage, _ told: [Told]) -> [String] {
        var violations: [String] = []
        if told.isEmpty { violations.append("was never told") }
        if let wrong = told.first(where: { $0.outcome != message.outcome }) {
            violations.append("ended as \(wrong.outcome) instead of \(message.outcome)")
        }
        violations += checkRepeats(message, told)
        violations += checkPushes(message, told)
        violations += checkDeadLetters(message)
        return violations
    }

    /// A notification is told once, unless a worker died; what cannot be read is told anew each time it is delivered.
    private func checkRepeats(_ message: SimulatedMessage, _ told: [Told]) -> [String] {
        guard message.outcome != "invalid" else { return [] }
        let different = Set(told)
        if different.count > 1 + report.kills { return ["was told in \(different.count) ways"] }
        if different.filter({ !$0.possibleDuplicate }).count > 1, message.copies == 1 {
            return ["was told twice without a word that it may be a duplicate"]
        }
        return []
    }

    private func checkPushes(_ message: SimulatedMessage, _ told: [Told]) -> [String] {
        let pushes = report.pushes[message.id] ?? []
        var violations: [String] = []
        if message.payload.isEmpty {
            if !pushes.isEmpty { violations.append("was sent \(pushes.count) times") }
            return violations
        }
        if pushes.isEmpty { violations.append("was never sent") }
        if pushes.contains(where: { $0.payload != message.payload }) { violations.append("was sent with other bytes") }
        let accepted = pushes.count { $0.status == 200 }
        if accepted > 1, message.copies == 1, !told.contains(where: \.possibleDuplicate) {
            violations.append("was accepted \(accepted) times without a word that it may be a duplicate")
        }
        return violations
    }

    private func checkDeadLetters(_ message: SimulatedMessage) -> [String] {
        let letters = report.deadLetters.filter { $0.body == message.body }
        guard let expected = message.deadLetter else {
            return letters.isEmpty ? [] : ["is a dead letter: \(letters[0].routingKey)"]
        }
        if letters.isEmpty { return ["is no dead letter"] }
        let wrong = letters.first { !$0.routingKey.hasPrefix("dead.\(expected).") }
        return wrong.map { ["is a dead letter as \($0.routingKey)"] } ?? []
    }

    private func read(_ result: ScriptedMessage) -> (UUIDValue, Told)? {
        guard let id = result.properties.messageID.flatMap({ UUIDValue($0) }),
            let root = try? JSONDocument(result.body).root, let outcome = root["outcome"]?.string,
            result.routingKey.hasPrefix("result.\(outcome)."), let attempts = root["attempts"]?.int64,
            let possibleDuplicate = root["possible_duplicate"]?.bool, let finishedAt = root["finished_at"]?.int64
        else { return nil }
        return (
            id,
            Told(
                outcome: outcome, attempts: attempts, possibleDuplicate: possibleDuplicate, finishedAt: finishedAt)
        )
    }
}
