extension BrokerAdmin {
    /// Declares a durable exchange. Throws if the exchange exists with other properties (406).
    public func declareExchange(
        _ name: String, _ kind: ExchangeKind, arguments: FieldTable = FieldTable()
    ) async throws(AMQPError) {
        _ = try await call(
            .exchangeDeclare(name, type: kind.rawValue, isPassive: false, arguments: arguments))
    }

    /// Returns whether the broker supports consistent-hash exchanges. Creates no exchange.
    ///
    /// The call sends the declaration of an exchange that hashes by both a header and a property. The plugin refuses
    /// this declaration. Without the plugin, the broker closes the connection, which then reconnects.
    ///
    /// - Parameter name: the name of the exchange in the declaration. The exchange may exist, and the user needs no
    ///   permission for the exchange.
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

    /// Returns whether an exchange with this name exists.
    public func exchangeExists(_ name: String) async throws(AMQPError) -> Bool {
        do {
            _ = try await call(.exchangeDeclare(name, type: "", isPassive: true, arguments: FieldTable()))
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    /// Binds an exchange to a source exchange. The source exchange then routes matching messages to the other exchange.
    /// The binding may already exist.
    public func bindExchange(
        _ exchange: String, toExchange source: String, routingKey: String
    ) async throws(AMQPError) {
        _ = try await call(.exchangeBind(exchange, source: source, routingKey: routingKey))
    }

    /// Removes a binding between exchanges. The binding may be missing, but both exchanges must exist.
    public func unbindExchange(
        _ exchange: String, fromExchange source: String, routingKey: String
    ) async throws(AMQPError) {
        _ = try await call(.exchangeUnbind(exchange, source: source, routingKey: routingKey))
    }

    /// Deletes an exchange. Throws if the exchange is the source of a binding (406). Does nothing if the exchange is
    /// missing.
    public func deleteUnusedExchange(_ name: String) async throws(AMQPError) {
        _ = try await call(.exchangeDelete(name))
    }
}
