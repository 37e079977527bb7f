/// The part of a route that a breaker or an operator's pause concerns.
enum BreakerScope: Sendable, Hashable {
    case endpoint(Int)
    /// A pool, which uses one key or certificate at one endpoint.
    case credential(pool: Int)
    case topic(Route)

    /// Returns the longest wait between two probes, in seconds.
    func probeSecondsMax(_ reason: HoldReason) -> Int64 {
        switch self {
        case .endpoint where reason.code != HoldReason.unansweredCode: Breaker.answeredProbeSecondsMax
        case .endpoint, .credential, .topic: Breaker.probeSecondsMax
        }
    }
}
