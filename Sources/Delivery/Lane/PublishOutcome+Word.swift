import AMQP

extension PublishOutcome {
    /// The values of the label `result`.
    static let words = ["confirmed", "returned", "nacked", "unknown", "not_sent", "refused"]

    /// The index in `words`.
    var number: Int {
        switch self {
        case .confirmed: 0
        case .returned: 1
        case .nacked: 2
        case .unknown: 3
        case .notSent: 4
        case .refused: 5
        }
    }
}
