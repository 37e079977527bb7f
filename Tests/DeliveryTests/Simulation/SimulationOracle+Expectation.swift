extension SimulationOracle {
    /// The permitted outcomes of a request.
    struct Expectation {
        /// The minimum number of failed deliveries after which a worker may give up a request without a push. Three of
        /// these deliveries fail before the quarantine, and two in the quarantine.
        static let lossesMin = 5

        let outcomes: Set<String>
        /// The permitted beginnings of a dead letter's routing key, without `dead.`.
        let deadLetters: [String]

        init(_ message: SimulatedMessage, _ settings: SimulatedSettings) {
            if message.isForBoundKey, settings.isKeyBoundForGood {
                self.init(["rejected", "expired", "unknown"], ["held.", "quarantine.", "unknown.no-answer"])
                return
            }
            switch message.kind {
            case .alert, .background, .voip, .throttled: self.init(["accepted"])
            case .urgent: self.init(["accepted", "expired", "unknown"], ["unknown.no-answer"])
            case .perishable: self.init(["accepted", "expired", "unknown"], ["unknown.no-answer"])
            case .unregistered: self.init(["rejected"])
            case .badToken: self.init(["rejected"], ["apns.BadDeviceToken"])
            case .redriven: self.init(["rejected", "accepted"], ["apns.BadDeviceToken"])
            case .expired: self.init(["expired"])
            case .withoutPayload: self.init(["invalid"], ["schema.required"])
            case .notJSON: self.init(["invalid"], ["json.syntax"])
            case .pinned: self.init(["invalid"], ["app.environment"])
            case .poison: self.init(["unknown"], ["quarantine.redelivered"])
            }
        }

        private init(_ outcomes: Set<String>, _ deadLetters: [String] = []) {
            (self.outcomes, self.deadLetters) = (outcomes, deadLetters)
        }
    }
}
