import CRabbitMQ
import EventLoop

extension WireConnection {
    /// Arguments of `connection.start-ok`, which must fit the least frame that there is.
    private static let startOKBytesMax = Int(Handshake.frameBytesMin) - 16
    /// Arguments of `connection.open`: the virtual host's name, of at most 255 bytes.
    private static let openBytesMax = 512
    /// Frames after the login, whatever was agreed: a broker sends the headers of a message in one frame even where it
    /// has added its own (`x-delivery-count`, `x-death`) to those that filled one. Refusing it would end the connection,
    /// and the message would come again.
    private static let readFrameBytesMax = 1 << 20

    func loginStarted(_ start: ConnectionStart) throws(AMQPError) {
        serverProperties = start.serverProperties
        let event = Handshake.Event.start(
            versionMajor: start.versionMajor, versionMinor: start.versionMinor, mechanisms: start.mechanisms)
        try perform(handshake.handle(event))
    }

    func loginTuned(_ tune: amqp_connection_tune_t) throws(AMQPError) {
        let offered = Handshake.Tuning(
            channelMax: tune.channel_max, frameBytesMax: tune.frame_max, heartbeatSeconds: tune.heartbeat)
        try perform(handshake.handle(.tune(offered)))
    }

    func loginOpened() throws(AMQPError) {
        try perform(handshake.handle(.openOK))
    }

    private func perform(_ action: Handshake.Action) throws(AMQPError) {
        switch action {
        case .sendStartOK(let mechanism): sendStartOK(mechanism)
        case .sendTuneOKAndOpen(let tuning): apply(tuning)
        case .ready: loginEnded()
        case .fail(let error): throw error
        }
    }

    private func sendStartOK(_ mechanism: Handshake.Mechanism) {
        let pool = writer.pool
        let credentials = configuration.credentials
        let response: [UInt8] =
            switch mechanism {
            // Nobody to act for, user and password.
            case .plain: [0] + Array(credentials.user.utf8) + [0] + Array(credentials.password.utf8)
            case .external: []
            }
        let startOK = amqp_connection_start_ok_t(
            client_properties: pool.table(Self.clientProperties(name: configuration.connectionName)),
            mechanism: pool.bytes(mechanism.rawValue), response: response.withUnsafeBytes { pool.bytes($0) },
            locale: pool.bytes("en_US"))
        if !send(startOK, channel: 0, argumentBytesMax: Self.startOKBytesMax) {
            fail(AMQPError(.invalidURL, "user and password do not fit into one frame", isRetriable: false))
        }
    }

    private static func clientProperties(name: String) -> FieldTable {
        [
            "product": "Martlet",
            "platform": "Swift",
            "connection_name": .string(name),
            "capabilities": .table([
                "consumer_cancel_notify": true,
                "connection.blocked": true,
                "publisher_confirms": true,
                "basic.nack": true,
                "exchange_exchange_bindings": true,
                "authentication_failure_close": true,
                "per_consumer_qos": true,
            ]),
        ]
    }

    private func apply(_ tuning: Handshake.Tuning) {
        splitter.frameBytesMax = max(Int(tuning.frameBytesMax), Self.readFrameBytesMax)
        writer.frameBytesMax = Int(tuning.frameBytesMax)
        channelMax = tuning.channelMax
        let tuneOK = amqp_connection_tune_ok_t(
            channel_max: tuning.channelMax, frame_max: tuning.frameBytesMax, heartbeat: tuning.heartbeatSeconds)
        send(tuneOK, channel: 0)
        let virtualHost = writer.pool.bytes(configuration.virtualHost)
        let open = amqp_connection_open_t(virtual_host: virtualHost, capabilities: amqp_bytes_t(), insist: 0)
        if !send(open, channel: 0, argumentBytesMax: Self.openBytesMax) {
            fail(AMQPError(.invalidURL, "the virtual host's name is longer than 255 bytes", isRetriable: false))
        }
        startHeartbeat(.seconds(Int(tuning.heartbeatSeconds)))
    }
}
