import AMQP
import BrokerManagement
import BrokerTopology
import Configuration
import Text

extension DoctorCheck {
    /// The check that no requests or commands wait without a consumer, that no queue refuses messages, and that no
    /// results are unrouted.
    static let queues = DoctorCheck(name: "queues", secondsMax: 30) { context, loop, _ in
        guard let target = context.target else {
            return [.unseen("queues", "the broker settings are missing or have mistakes")]
        }
        let admin = target.connector.admin(named: "martlet doctor", on: loop, deadlineSeconds: brokerAnswerSecondsMax)
        do throws(AMQPError) {
            return lines(try await target.inspector.queueConditions(by: admin, deadlineSeconds: brokerAnswerSecondsMax))
        } catch {
            return [.unseen("queues", "cannot query the broker: \(error.message)")]
        }
    }

    static func lines(_ conditions: QueueConditions) -> [DoctorLine] {
        let names = conditions.topology.names
        var lines = conditions.faults.map {
            DoctorLine.failure("queues", "\($0.queue): \($0.text)", remedy: $0.remedy)
        }
        if let unrouted = conditions.status(of: names.unroutedQueue), unrouted.messages > 0 {
            lines.append(
                .warning(
                    "queues", "\(unrouted.name): \(unrouted.messages.counted("result")) without a bound queue",
                    remedy: "bind a queue to the exchange \(names.resultsExchange) with the key result.#"))
        }
        let unseen = "whether a full queue refuses messages"
        switch conditions.management {
        case .success(let snapshot) where snapshot.showsStatistics: break
        case .success(let snapshot):
            lines.append(
                .unseen(
                    "queues", "\(unseen): \(snapshot.unseenLimitsText)",
                    remedy: snapshot.unseenLimitsAdvice(conditions.advice)))
        case .failure(let failure):
            lines.append(
                .unseen("queues", "\(unseen): \(failure.message)", remedy: "check amqp.management_url and its user"))
        case nil:
            lines.append(
                .unseen("queues", "\(unseen): AMQP does not show limits", remedy: "set amqp.management_url"))
        }
        let consumed = names.requestQueuesAndShards + conditions.topology.queuesOfCommands
        let depths = (consumed + [names.deadQueue]).compactMap { conditions.status(of: $0) }
        guard !depths.isEmpty, conditions.faults.isEmpty else { return lines }
        let texts = depths.map { status in
            consumed.contains(status.name)
                ? "\(status.name): \(status.messages) waiting, \(status.consumers.counted("consumer"))"
                : "\(status.name): \(status.messages)"
        }
        return [.ok("queues", texts.joined(separator: "; "))] + lines
    }
}
