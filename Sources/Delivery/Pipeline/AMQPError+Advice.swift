import AMQP

extension AMQPError {
    /// The error, followed by a command that remedies or explains it if one exists.
    var advice: String {
        switch code {
        case .notFound where replyCode == 404: "\(self): run: martlet topology apply"
        // The error needs a change of the configuration, for example of the login. No command explains more.
        case _ where !isRetriable: "\(self)"
        case .cannotConnect, .connectionLost, .timedOut: "\(self): on the broker's host, run: rabbitmqctl status"
        // Among retriable refusals, only a resource alarm has no reply code.
        case .refused where replyCode == 0: "\(self): \(Self.alarmRemedy)"
        default: "\(self)"
        }
    }

    static let alarmRemedy =
        "on the broker's host, run: rabbitmq-diagnostics alarms; free disk space, or consume from growing queues"
}
