/// The outcome of a completed request, with the details that its result and its dead letter report.
public struct FinalOutcome: Sendable, Hashable {
    public var outcome: Outcome
    /// The answer of APNs that led to the outcome; nil if no answer led to the outcome.
    public var answer: Answer?
    /// The state of the device token; nil without an answer, for a broadcast, and if the answer shows no state.
    public var tokenState: TokenState?
    /// The reason why the request is dead-lettered; nil if it is not dead-lettered.
    public var deadLetter: DeadLetterReason?

    init(
        outcome: Outcome, answer: Answer? = nil, tokenState: TokenState? = nil, deadLetter: DeadLetterReason? = nil
    ) {
        self.outcome = outcome
        self.answer = answer
        self.tokenState = tokenState
        self.deadLetter = deadLetter
    }

    init(invalid violation: RequestViolation) {
        self.init(outcome: .invalid, deadLetter: DeadLetterReason(violation))
    }

    /// The parts of APNs' answer that a result contains.
    public struct Answer: Sendable, Hashable {
        public var status: Int
        public var reason: String?
        /// The timestamp of a 410 answer, in UNIX milliseconds.
        public var timestampMilliseconds: Int64?
        public var apnsUniqueID: String?
        public var apnsRequestID: String?
    }
}

/// The reason in the result of a failed request, and in the routing key and headers of its dead letter.
public struct DeadLetterReason: Sendable, Hashable {
    /// The class: `json`, `schema`, `limit`, `property`, `app`, `size`, `apns`, `exhausted`, `held`, `quarantine` or
    /// `unknown`.
    public var deadClass: String
    public var code: String
    /// The JSON pointer to the invalid value; nil if the reason is no violation, or the violation has no pointer.
    public var path: String?
    public var sentence: String

    init(_ deadClass: String, _ code: String, path: String? = nil, _ sentence: String) {
        self.deadClass = deadClass
        self.code = code
        self.path = path
        self.sentence = sentence
    }

    init(_ violation: RequestViolation) {
        self.init(violation.violationClass.rawValue, violation.code, path: violation.path, violation.sentence)
    }
}
