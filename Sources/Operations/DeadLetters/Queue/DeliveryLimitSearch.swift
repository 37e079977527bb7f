import Delivery

extension DeadLetterOptions {
    /// Takes the limit that the queue has, where nobody said one and the management shows it. Blocks.
    ///
    /// - Returns: false, after an error line, when it leaves no look to spare.
    mutating func seekDeliveryLimit(of queue: String, _ management: ManagementAccess) -> Bool {
        guard isDeliveryLimitAssumed, action != .import else { return true }
        do throws(ManagementAPI.Failure) {
            guard let limit = try ManagementAPI(management).deliveryLimit(ofQueue: queue) else { return true }
            deliveryLimit = limit.count
        } catch {
            Terminal.error.line(
                "martlet: \(queue): its limit of deliveries is not seen, \(Self.deliveryLimitDefault) is assumed: \(error.message)"
                    .printable)
        }
        guard let limit = deliveryLimit, limit <= DeadLetterScan.deliveriesSpared else { return true }
        Terminal.error.line(
            "martlet: \(queue): each look is a delivery in vain, and RabbitMQ throws away what exceeds \(limit) of them. \(DeadLetterScan.limitAdvice(queue))"
                .printable)
        return false
    }
}

extension DeadLetterScan {
    /// What to do about a limit of deliveries that is in the way.
    static func limitAdvice(_ queue: String) -> String {
        "Take the limit away (RabbitMQ 4: rabbitmqctl set_policy --apply-to queues dead-letters "
            + "'^\(Topology.escaped(queue))$' '{\"delivery-limit\":-1}'; RabbitMQ 3 has none unless a policy or an "
            + "argument sets it), then say --delivery-limit none"
    }
}
