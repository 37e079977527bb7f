import BrokerManagement
import BrokerTopology
import CommandKit
import DeadLetters
import Text

extension DeadLetterOptions {
    /// Takes the limit that the queue has, where nobody said one and the management shows it. Blocks.
    ///
    /// - Returns: false, after an error line, when it leaves no look to spare, or is lower than the one that was said.
    mutating func seekDeliveryLimit(of queue: String, _ management: ManagementAccess) -> Bool {
        guard action != .import else { return true }
        do throws(ManagementClient.Failure) {
            guard let limit = try ManagementClient(management).deliveryLimit(ofQueue: queue) else { return true }
            guard isDeliveryLimitAssumed else { return isWithin(limit, of: queue) }
            deliveryLimit = limit.count
        } catch {
            guard isDeliveryLimitAssumed else { return true }
            Terminal.error.line(
                "martlet: \(queue): its limit of deliveries is not seen, \(Self.deliveryLimitDefault) is assumed: \(error.message)"
                    .printable)
        }
        guard let limit = deliveryLimit, limit <= DeadLetterScan.deliveriesSpared else { return true }
        Terminal.error.line(
            "martlet: \(queue): each look is a delivery in vain, and RabbitMQ throws away what exceeds \(limit) of them. \(DeadLetterScan.limitAdvice(queue, in: management.virtualHost))"
                .printable)
        return false
    }

    /// Whether the limit that was said is none that would cost dead letters.
    private func isWithin(_ limit: DeliveryLimit, of queue: String) -> Bool {
        guard let count = limit.count, count < deliveryLimit ?? .max else { return true }
        Terminal.error.line(
            "martlet: \(queue): its limit of deliveries is \(count), as the management shows it (a policy some seconds after it is set)"
                .printable)
        return false
    }
}

extension DeadLetterScan {
    /// What to do about a limit of deliveries that is in the way.
    static func limitAdvice(_ queue: String, in virtualHost: String) -> String {
        let host = Shell.quoted(virtualHost)
        return "Take the limit away (RabbitMQ 4: rabbitmqctl set_policy -p \(host) --apply-to queues --priority 100 "
            + "dead-letters '^\(Topology.escaped(queue))$' '{\"delivery-limit\":-1}', the priority above that of any "
            + "other policy for it; RabbitMQ 3 has none unless a policy or an argument sets it), see that none is left "
            + "(rabbitmqctl list_queues -p \(host) name effective_policy_definition arguments), and then say "
            + "--delivery-limit none, which costs dead letters where there is one"
    }
}
