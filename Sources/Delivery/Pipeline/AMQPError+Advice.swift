import AMQP

extension AMQPError {
    /// The error, followed by a command that remedies or explains it if one exists.
    var advice: String {
        switch code {
        case .notFound where replyCode == 404: "\(self): run: martlet topology apply"
        // A certificate or login was refused, so the configuration is wrong. No command explains more.
        case _ where !isRetriable: "\(self)"
        case .cannotConnect, .connectionLost, .timedOut: "\(self): on the broker's host, run: rabbitmqctl status"
        // A resource alarm has no reply code; other refusals have one.
        case .refused where replyCode == 0: "\(self): \(Self.alarmRemedy)"
        default: "\(self)"
        }
    }

    static let alarmRemedy =
        "on the broker's host, run: rabbitmq-diagnostics alarms; free disk space, or consume from growing queues"
}
