/// The result of comparing one part of a topology with the broker.
public struct TopologyFinding: Sendable, Equatable {
    public enum State: String, Sendable {
        case present
        case missing
        /// A part that exists with other properties.
        case differs
        /// A part that the broker does not show.
        case unseen
    }

    /// The part, such as `queue push.requests`.
    public var subject: String
    public var state: State
    /// An explanation, a remedy, or both; empty if the part needs neither.
    public var advice: String

    public init(subject: String, state: State, advice: String = "") {
        self.subject = subject
        self.state = state
        self.advice = advice
    }

    /// The finding that the plugin for shards is missing.
    public static let missingPlugin = TopologyFinding(
        subject: "plugin rabbitmq_consistent_hash_exchange", state: .missing, advice: TopologyAdvice.plugin)

    /// Whether the finding is a problem that an operator must fix.
    public var isFault: Bool {
        switch state {
        case .missing, .differs: true
        case .present, .unseen: false
        }
    }
}
