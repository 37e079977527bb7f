extension Handshake {
    init(_ configuration: ConnectionConfiguration) {
        self.init(
            wanted: Tuning(
                channelMax: UInt16(BrokerConnection.channelsMax),
                frameBytesMax: UInt32(clamping: configuration.frameBytesMax),
                heartbeatSeconds: UInt16(clamping: configuration.heartbeatSeconds)),
            prefersExternal: configuration.prefersCertificate)
    }
}

extension ConnectionConfiguration {
    func startOK(_ mechanism: Handshake.Mechanism) -> ClientMethod {
        let response: [UInt8] =
            switch mechanism {
            // RFC 4616: an empty authorization identity, then user and password.
            case .plain: [0] + Array(credentials.user.utf8) + [0] + Array(credentials.password.utf8)
            case .external: []
            }
        return .connectionStartOK(clientProperties: clientProperties, mechanism: mechanism, response: response)
    }

    private var clientProperties: FieldTable {
        [
            "product": "Martlet",
            "platform": "Swift",
            "connection_name": .string(connectionName),
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
}
