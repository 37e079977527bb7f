/// Why something is not sent for now.
public struct BreakerCause: Sendable, Hashable {
    /// One word for routing keys and headers: APNs' reason, `unreachable`, `certificate`, `failing`, `unanswered`,
    /// `token` or `paused`; of a push that no connection took `no-connection`, `overloaded` or `refused-stream`.
    public var code: String
    /// For operators: what was seen, and what may mend it.
    public var sentence: String

    static let paused = BreakerCause("paused", "An operator has paused it, until martlet resume or a restart.")

    init(_ code: String, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }
}
