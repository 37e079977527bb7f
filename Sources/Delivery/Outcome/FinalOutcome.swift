/// The outcome of a completed request, as its result and dead letter report it.
public struct FinalOutcome: Sendable, Hashable {
    public var outcome: Outcome
    /// APNs' answer; nil if there was none.
    public var answer: Answer?
    public var tokenState: TokenState?
    /// The reason why the request is dead-lettered; nil if it is not.
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

    public struct Answer: Sendable, Hashable {
        public var status: Int
        public var reason: String?
        /// The timestamp of a 410 answer, in UNIX milliseconds.
        public var timestampMilliseconds: Int64?
        public var apnsUniqueID: String?
        public var apnsRequestID: String?
    }
}

/// The reason in a dead letter's routing key and headers.
public struct DeadLetterReason: Sendable, Hashable {
    /// `json`, `schema`, `limit`, `property`, `app`, `size`, `apns`, `exhausted`, `held`, `quarantine` or `unknown`.
    public var deadClass: String
    public var code: String
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
