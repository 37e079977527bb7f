/// Exchanges that are not there, and the one message that tries whether one of them is again.
///
/// RabbitMQ closes the channel of whoever publishes to a missing exchange, and all else that was sent on it loses its
/// confirm: it would be published again, each time. So what is for such an exchange goes alone.
struct MissingExchanges {
    /// Further ones are not remembered.
    private static let countMax = 64

    private var names: Set<String> = []
    /// Where what has been sent alone is for.
    private var tried: String?

    var isEmpty: Bool { names.isEmpty }
    var isTrying: Bool { tried != nil }

    func contains(_ exchange: String) -> Bool { names.contains(exchange) }

    mutating func tries(_ exchange: String) { tried = exchange }

    /// The broker has answered: it is there.
    mutating func tryEnded() {
        if let tried { names.remove(tried) }
        tried = nil
    }

    /// The channel is gone.
    mutating func channelLost(_ error: AMQPError) {
        tried = nil
        if case .missingExchange(let name) = error.detail, names.count < Self.countMax { names.insert(name) }
    }
}
