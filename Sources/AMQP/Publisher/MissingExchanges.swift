/// The known missing exchanges, and the trial message that checks whether one of them exists again.
///
/// A publish to a missing exchange makes RabbitMQ close the channel. All unconfirmed messages on this channel then lose
/// their confirms and must be published again. Messages to a missing exchange are therefore sent one at a time, as
/// trials, while no other message is unconfirmed.
struct MissingExchanges {
    /// The largest number of remembered exchanges. Further exchanges are not remembered.
    private static let countMax = 64

    private var names: Set<String> = []
    /// The exchange of the trial message in flight; nil if no trial message is in flight.
    private var trialExchange: String?

    var isEmpty: Bool { names.isEmpty }
    var isTrialPending: Bool { trialExchange != nil }

    func contains(_ exchange: String) -> Bool { names.contains(exchange) }

    mutating func trialSent(to exchange: String) { trialExchange = exchange }

    /// Handles the confirm or refusal of the trial message. Either answer shows that the exchange exists.
    mutating func trialAnswered() {
        if let trialExchange { names.remove(trialExchange) }
        trialExchange = nil
    }

    /// Handles the loss of the channel. Remembers the missing exchange if the error names one.
    mutating func channelLost(_ error: AMQPError) {
        trialExchange = nil
        if case .missingExchange(let name) = error.detail, names.count < Self.countMax { names.insert(name) }
    }
}
