import AMQP

extension AMQPError {
    /// The error with the command that remedies it or shows its reason, if there is one.
    var advice: String {
        switch code {
        case .notFound where replyCode == 404: "\(self): run: martlet topology apply"
        // A certificate, or a login: the configuration is wrong.
        case _ where !isRetriable: "\(self)"
        case .cannotConnect, .connectionLost, .timedOut: "\(self): see there with rabbitmqctl status"
        // An outage reports an alarm so; for other refusals the broker has a reply code.
        case .refused where replyCode == 0: "\(self): \(Self.alarmRemedy)"
        default: "\(self)"
        }
    }

    static let alarmRemedy = "see there with rabbitmq-diagnostics alarms; free disk, or have queues read that grow"
}
