extension BrokerAdmin {
    /// Declares a durable exchange. One that exists with other properties is an error (406).
    public func declareExchange(
        _ name: String, _ kind: ExchangeKind, arguments: FieldTable = FieldTable()
    ) async throws(AMQPError) {
        _ = try await call(
            .exchangeDeclare(name, type: kind.rawValue, isPassive: false, arguments: arguments))
    }

    /// Whether the broker has exchanges that hash. Nothing is declared: it is asked for one that hashes by two things at
    /// once, which the plugin refuses; without it the broker ends the connection, which is opened again.
    ///
    /// - Parameter name: that the exchange would have; it may be there, and this user need not be allowed to declare it.
    public func hashesConsistently(_ name: String) async throws(AMQPError) -> Bool {
        do {
            try await declareExchange(
                name, .consistentHash, arguments: ["hash-header": "none", "hash-property": "message_id"])
            return true
        } catch {
            if error.detail == .unknownExchangeType { return false }
            guard error.code == .preconditionFailed || error.code == .accessRefused else { throw error }
            return true
        }
    }

    /// Whether there is an exchange of this name.
    public func exchangeExists(_ name: String) async throws(AMQPError) -> Bool {
        do {
            _ = try await call(.exchangeDeclare(name, type: "", isPassive: true, arguments: FieldTable()))
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    /// Has an exchange hand on to another what it would hand to a queue. A binding that is there already is no error.
    public func bindExchange(
        _ exchange: String, toExchange source: String, routingKey: String
    ) async throws(AMQPError) {
        _ = try await call(.exchangeBind(exchange, source: source, routingKey: routingKey))
    }

    /// Takes such a binding away; one that is not there is no error, as long as both exchanges are.
    public func unbindExchange(
        _ exchange: String, fromExchange source: String, routingKey: String
    ) async throws(AMQPError) {
        _ = try await call(.exchangeUnbind(exchange, source: source, routingKey: routingKey))
    }

    /// Deletes an exchange that leads nowhere; one that is not there is no error, one with bindings is (406).
    public func deleteUnusedExchange(_ name: String) async throws(AMQPError) {
        _ = try await call(.exchangeDelete(name))
    }
}
