import CRabbitMQ

/// The librabbitmq that this process has loaded.
public enum AMQPLibrary {
    public static var version: String { amqp_version().map { String(cString: $0) } ?? "-" }
}
