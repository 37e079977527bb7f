import AMQP

extension DeadLetterScan {
    /// The reason why the scan did not read all messages, with a remedy. nil if it has read them, and after a signal or
    /// a stop by the caller.
    package var problem: String? {
        switch end {
        case nil, .complete, .enough, .interrupted: nil
        case .windowFull where window < Self.windowMax:
            "\(queue): \(window) \(source.noun)s stay in the queue and fill the window: run the command again without "
                + "--rate"
        case .windowFull:
            "\(queue): read only the oldest \(Self.windowMax) of \(total) messages: \(source.roomAdvice)"
        case .tooLong:
            "\(queue): stopped after \(Self.heldSecondsMax / 60) minutes, because RabbitMQ requeues unacknowledged "
                + "messages after 30 minutes: run the command again for the rest"
        case .lost(let error): error.message
        case .worn(let deliveries):
            "\(queue): scan stopped: a \(source.noun) had \(deliveries) failed deliveries, and RabbitMQ discards a "
                + "message after more than \(deliveryLimit ?? 0)."
        }
    }
}
