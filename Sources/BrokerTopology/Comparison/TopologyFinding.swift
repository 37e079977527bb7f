/// The result of comparing one part of a topology with the broker.
public struct TopologyFinding: Sendable, Equatable {
    public enum State: String, Sendable {
        case present
        case missing
        /// The part exists with other properties.
        case differs
        /// The broker does not show the part.
        case unseen
    }

    /// The part, such as `queue push.requests`.
    public var subject: String
    public var state: State
    /// The problem and its remedy; empty without a problem.
    public var advice: String

    public init(subject: String, state: State, advice: String = "") {
        self.subject = subject
        self.state = state
        self.advice = advice
    }

    /// The finding that the plugin for shards is missing.
    public static let missingPlugin = TopologyFinding(
        subject: "plugin rabbitmq_consistent_hash_exchange", state: .missing, advice: TopologyAdvice.plugin)

    /// Whether a worker or another user of the part would fail.
    public var isFault: Bool {
        switch state {
        case .missing, .differs: true
        case .present, .unseen: false
        }
    }
}
