import EventLoop
import JSON

extension ConnectOptions {
    /// Reads `amqp.socket` or `apns.socket`.
    ///
    /// - Parameter defaults: what a missing key means.
    init(_ section: JSONValue, otherwise defaults: ConnectOptions) {
        self = defaults
        resolveSecondsMax = section["resolve_timeout_seconds"]?.int ?? resolveSecondsMax
        connectSecondsMax = section["connect_timeout_seconds"]?.int ?? connectSecondsMax
        handshakeSecondsMax = section["tls_timeout_seconds"]?.int ?? handshakeSecondsMax
        userTimeoutSeconds = section["user_timeout_seconds"]?.int ?? userTimeoutSeconds
        keepaliveSeconds = section["keepalive_seconds"]?.int ?? keepaliveSeconds
    }
}
