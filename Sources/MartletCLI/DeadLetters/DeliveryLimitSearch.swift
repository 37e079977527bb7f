import BrokerManagement
import BrokerTopology
import CommandKit
import DeadLetters
import Text

extension DeadLetterOptions {
    /// Sets `deliveryLimit` to the queue's limit if the management API shows the limit and no option sets one.
    /// Blocks.
    ///
    /// - Returns: false, after an error line, if the limit allows no scan or is lower than the option's value.
    mutating func readDeliveryLimit(of queue: String, _ management: ManagementAccess) -> Bool {
        guard action != .import else { return true }
        do throws(ManagementClient.Failure) {
            guard let limit = try ManagementClient(management).deliveryLimit(ofQueue: queue) else { return true }
            guard isDeliveryLimitAssumed else { return isWithin(limit, of: queue) }
            deliveryLimit = limit.count
        } catch {
            guard isDeliveryLimitAssumed else { return true }
            Terminal.error.line(
                ("martlet: \(queue): delivery limit unknown, assuming \(Self.deliveryLimitDefault): \(error.message); "
                    + "if the queue has another limit, pass --delivery-limit N").printable)
        }
        guard let limit = deliveryLimit, limit <= DeadLetterScan.deliveriesSpared else { return true }
        Terminal.error.line(
            "martlet: \(queue): each scan counts as a failed delivery, and RabbitMQ discards a message after more than \(limit) failed deliveries. \(DeadLetterScan.limitAdvice(queue, in: management.virtualHost))"
                .printable)
        return false
    }

    /// Returns whether the value of `--delivery-limit` does not exceed the queue's limit. A higher value would lose
    /// dead letters, and causes an error line.
    private func isWithin(_ limit: DeliveryLimit, of queue: String) -> Bool {
        guard let count = limit.count, count < deliveryLimit ?? .max else { return true }
        Terminal.error.line(
            ("martlet: \(queue): the delivery limit is \(count), lower than --delivery-limit; lower the option or, if "
                + "you have just changed the policy, wait a few seconds and run the command again").printable)
        return false
    }
}

extension DeadLetterScan {
    /// Returns the remedy for a delivery limit that prevents a scan.
    static func limitAdvice(_ queue: String, in virtualHost: String) -> String {
        let host = Shell.quoted(virtualHost)
        return "Remove the limit. With RabbitMQ 4, run: rabbitmqctl set_policy -p \(host) --apply-to queues --priority "
            + "100 dead-letters '^\(Topology.escaped(queue))$' '{\"delivery-limit\":-1}'; the policy needs a higher "
            + "priority than the queue's other policies. RabbitMQ 3 has a limit only if a policy or an argument sets "
            + "a limit. To verify, run: rabbitmqctl list_queues -p \(host) name effective_policy_definition arguments; "
            + "then pass --delivery-limit none. This option loses dead letters if the queue still has a limit."
    }
}
