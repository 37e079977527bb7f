import ControlProtocol
import Delivery

/// The outcomes of requests a second.
struct OutcomeRates: Sendable, Hashable {
    /// Maximum rate of one outcome in a worker. A forged report may claim more.
    private static let rateMax = 1_000_000.0

    var accepted = 0.0
    /// Requests with the outcomes `rejected` and `invalid`.
    var refused = 0.0
    /// Requests that expired, or whose outcome is unknown.
    var failed = 0.0

    init() {}

    /// - Parameter rates: in the order of `Outcome.allCases`.
    init(_ rates: [Double]) {
        for (outcome, rate) in zip(Outcome.allCases, rates) {
            let rate = min(max(0, rate), Self.rateMax)
            switch outcome {
            case .accepted: accepted += rate
            case .rejected, .invalid: refused += rate
            case .expired, .unknown: failed += rate
            }
        }
    }

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.accepted += right.accepted
        sum.refused += right.refused
        sum.failed += right.failed
        return sum
    }
}
