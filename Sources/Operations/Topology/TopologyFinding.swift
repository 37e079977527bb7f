import CommandKit

/// What became of comparing one part of a topology with the broker.
struct TopologyFinding: Sendable, Equatable {
    enum State: String, Sendable {
        case present
        case missing
        /// It is there, but not as it should be.
        case differs
        /// It could not be looked at.
        case unseen
    }

    /// `queue push.requests`.
    var subject: String
    var state: State
    /// What is the matter and what to do about it; empty when all is well.
    var advice = ""

    /// Without it there are no shards.
    static let missingPlugin = TopologyFinding(
        subject: "plugin rabbitmq_consistent_hash_exchange", state: .missing, advice: TopologyAdvice.plugin)

    /// Whether a worker, or whoever relies on it, would go wrong.
    var isFault: Bool {
        switch state {
        case .missing, .differs: true
        case .present, .unseen: false
        }
    }

    /// One line for an operator.
    var text: String {
        let start = "\(state.rawValue.padded(to: 8)) \(subject)"
        return advice.isEmpty ? start : "\(start): \(advice)"
    }
}
