import CRabbitMQ

/// What this process has loaded of librabbitmq.
public enum AMQPLibrary {
    public static var version: String { amqp_version().map { String(cString: $0) } ?? "-" }
}
