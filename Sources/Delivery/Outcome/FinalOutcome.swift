/// What is published of a delivery that has ended.
public struct FinalOutcome: Sendable, Hashable {
    public var outcome: Outcome
    /// APNs' answer, where there was one.
    public var answer: Answer?
    public var tokenState: TokenState?
    /// Why somebody may have to act; `nil` when nobody has to.
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
        /// APNs' timestamp of a 410, in UNIX milliseconds as given.
        public var timestampMilliseconds: Int64?
        public var apnsUniqueID: String?
        public var apnsRequestID: String?
    }
}

/// What a dead letter's routing key and headers say.
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
