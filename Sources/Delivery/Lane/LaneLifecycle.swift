/// The phases of a lane.
enum LaneLifecycle: Equatable {
    /// To: paused, finishing, stopping.
    case running
    /// A pause by an operator. To: running, finishing, stopping.
    case paused
    /// The end of consumption by a lane that another lane replaces. The lane continues to process its deliveries until
    /// its drain. To: stopping.
    case finishing
    /// The first phase of a drain. The consumers stop, and the lane processes the deliveries in transit. To: leaving,
    /// ended.
    case stopping
    /// The second phase of a drain, which begins when the consumers have stopped, or after a timeout. Requests that
    /// have not been pushed and deliveries that still arrive return to the broker. To: ended.
    case leaving
    /// The last phase. The deadline of the drain has passed, or the connections are closed. The lane publishes nothing.
    case ended

    var isDraining: Bool {
        switch self {
        case .running, .paused, .finishing: false
        case .stopping, .leaving, .ended: true
        }
    }

    /// Whether an operator can pause or resume the lane.
    var isPausable: Bool { self == .running || self == .paused }

    /// Whether requests that have not been pushed return to the broker.
    var isLeaving: Bool { self == .leaving || self == .ended }
}
