import EventLoop
import JSON

extension ConfigurationReader {
    /// Reads `amqp.socket` or `apns.socket`.
    ///
    /// - Parameter defaults: values for missing keys.
    mutating func connectOptions(_ section: JSONValue, otherwise defaults: ConnectOptions) -> ConnectOptions {
        var options = defaults
        func set<Value>(_ option: WritableKeyPath<ConnectOptions, Value>, _ value: Value?) {
            if let value { options[keyPath: option] = value }
        }
        set(\.resolveSecondsMax, section["resolve_timeout_seconds"]?.int)
        set(\.connectSecondsMax, section["connect_timeout_seconds"]?.int)
        set(\.handshakeSecondsMax, section["tls_timeout_seconds"]?.int)
        set(\.userTimeoutSeconds, section["user_timeout_seconds"]?.int)
        set(\.keepaliveSeconds, section["keepalive_seconds"]?.int)
        set(\.sendBufferBytes, section["send_buffer_bytes"]?.int)
        set(\.receiveBufferBytes, section["receive_buffer_bytes"]?.int)
        set(\.dscp, section["dscp"]?.int)
        set(\.sourceAddress, section["source_address"].flatMap { sourceAddress($0) })
        return options
    }

    private mutating func sourceAddress(_ value: JSONValue) -> SourceAddress? {
        guard let text = text(value) else { return nil }
        guard let address = SourceAddress(text) else {
            complain(value, "source_address must be an IP address, such as 10.0.0.5 or 2001:db8::5")
            return nil
        }
        return address
    }
}
