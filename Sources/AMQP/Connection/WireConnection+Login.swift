import EventLoop

extension WireConnection {
    /// Frames after the login, whatever was agreed: a broker sends the headers of a message in one frame even where it
    /// has added its own (`x-delivery-count`, `x-death`) to those that filled one. Refusing it would end the connection,
    /// and the message would come again.
    private static let readFrameBytesMax = 1 << 20

    func loginStarted(_ start: ServerMethod.ConnectionStart) throws(AMQPError) {
        guard let properties = FieldTable(content: start.serverProperties) else {
            throw AMQPError(.protocolViolation, "the broker sent properties that cannot be read")
        }
        serverProperties = properties
        let event = Handshake.Event.start(
            versionMajor: start.versionMajor, versionMinor: start.versionMinor,
            mechanisms: String(wire: start.mechanisms))
        try perform(handshake.handle(event))
    }

    func loginTuned(_ offered: Handshake.Tuning) throws(AMQPError) {
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
        let credentials = configuration.credentials
        let response: [UInt8] =
            switch mechanism {
            // Nobody to act for, user and password.
            case .plain: [0] + Array(credentials.user.utf8) + [0] + Array(credentials.password.utf8)
            case .external: []
            }
        let properties = Self.clientProperties(name: configuration.connectionName)
        // Before the tuning, a frame has at most the length that each broker accepts.
        if !send(
            .connectionStartOK(clientProperties: properties, mechanism: mechanism, response: response), channel: 0)
        {
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
        send(.connectionTuneOK(tuning), channel: 0)
        if !send(.connectionOpen(virtualHost: configuration.virtualHost), channel: 0) {
            fail(AMQPError(.invalidURL, "the virtual host's name is longer than 255 bytes", isRetriable: false))
        }
        startHeartbeat(.seconds(Int(tuning.heartbeatSeconds)))
    }
}
