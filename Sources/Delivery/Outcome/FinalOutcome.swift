/// The outcome of a completed request, with the details that its result and its dead letter report.
public struct FinalOutcome: Sendable, Hashable {
    public var outcome: Outcome
    /// The answer of APNs that led to the outcome; nil if no answer led to the outcome.
    public var answer: Answer?
    /// The state of the device token; nil without an answer, for a broadcast, and if the answer shows no state.
    public var tokenState: TokenState?
    /// The failure that the result reports; nil if the result contains no error.
    public var failure: Failure?

    init(
        outcome: Outcome, answer: Answer? = nil, tokenState: TokenState? = nil, deadLetter: DeadLetterReason? = nil
    ) {
        self.outcome = outcome
        self.answer = answer
        self.tokenState = tokenState
        failure = deadLetter.map { .deadLetter($0) }
    }

    private init(rejected reason: DeadLetterReason) {
        self.init(outcome: .rejected)
        failure = .resultOnly(reason)
    }

    /// The error of a result.
    public enum Failure: Sendable, Hashable {
        /// A failure that dead-letters the request.
        case deadLetter(DeadLetterReason)
        /// A failure without a dead letter, because the failure is common and a redrive would not help.
        case resultOnly(DeadLetterReason)
    }

    /// The reason why the request is dead-lettered; nil if it is not dead-lettered.
    public var deadLetter: DeadLetterReason? {
        if case .deadLetter(let reason) = failure { reason } else { nil }
    }

    /// The error in the result; nil if the result contains none.
    public var error: DeadLetterReason? {
        switch failure {
        case .deadLetter(let reason), .resultOnly(let reason): reason
        case nil: nil
        }
    }

    /// The outcome of a request to one user who has no device.
    static let noDevice = FinalOutcome(
        rejected: DeadLetterReason(
            "registration", "no_device",
            "The user has no registered device for this app, environment, push type and scope: register one, or omit "
                + "the request."))

    /// The outcome of a request to a device whose registration ended before the push.
    static let gone = FinalOutcome(
        rejected: DeadLetterReason(
            "registration", "gone", "The registration of the device ended after the request was received."))

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
    /// The class: `json`, `schema`, `limit`, `property`, `app`, `size`, `registration`, `apns`, `exhausted`, `held`,
    /// `quarantine` or `unknown`.
    public var deadClass: String
    public var code: String
    /// The JSON pointer to the invalid value; nil if the reason is no violation, or the violation has no pointer.
    public var path: String?
    public var sentence: String

    /// The code of a request whose deliveries failed repeatedly.
    static let redeliveredCode = "redelivered"

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
