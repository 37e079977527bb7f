extension Publisher {
    /// Publishes `message`, and publishes it again without the user ID if the broker refuses the user ID.
    ///
    /// The refusal closes the channel. Other messages that are unconfirmed at that time may then arrive twice.
    public func publishWithoutRefusedUserID(_ message: OutgoingMessage) async -> PublishOutcome {
        let outcome = await publish(message)
        guard case .unknown(let error) = outcome, error.detail == .refusedUserID else { return outcome }
        return await publish(message)
    }
}
