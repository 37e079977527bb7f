import EventLoop

extension ConnectionMachine {
    /// The ports of AMQP without and with TLS.
    private static let standardPorts: [UInt16] = [5672, 5671]

    /// Returns the error with a message that names the endpoint and the phase in which the stream ended. Returns the
    /// error unchanged unless the connection was connecting, logging in or open. A connection that never opened is
    /// reported as failed, not as lost.
    func inContext(_ reason: AMQPError) -> AMQPError {
        switch state {
        case .idle, .closing, .waiting, .closed:
            return reason
        case .connecting(let endpoint):
            return Self.failedToOpen(reason, "cannot connect to \(endpoint): \(Self.text(of: reason, endpoint))")
        case .loggingIn(let endpoint, let handshake):
            let login =
                switch handshake.mechanism {
                case .plain: "as \(configuration.credentials.user)"
                case .external: "by certificate"
                }
            var message = "cannot log in at \(endpoint) \(login): \(Self.text(of: reason, endpoint))"
            if handshake.state == .awaitingStart, reason.isRetriable, !Self.standardPorts.contains(endpoint.port) {
                message += "; check that \(endpoint.port) is the AMQP port (5672, or 5671 with amqps://)"
            }
            return Self.failedToOpen(reason, message)
        case .open(let endpoint, _):
            return reason.with("the connection to \(endpoint) was lost: \(Self.text(of: reason, endpoint))")
        }
    }

    private static func failedToOpen(_ reason: AMQPError, _ message: String) -> AMQPError {
        reason.with(message, code: reason.code == .connectionLost ? .cannotConnect : reason.code)
    }

    /// Returns the error's message without the endpoint, with which the messages of stream errors begin.
    private static func text(of reason: AMQPError, _ endpoint: Endpoint) -> Substring {
        let place = "\(endpoint): "
        return reason.message.hasPrefix(place) ? reason.message.dropFirst(place.count) : reason.message[...]
    }
}
