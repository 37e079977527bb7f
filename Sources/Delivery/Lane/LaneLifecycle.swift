/// The phases of a lane.
enum LaneLifecycle: Equatable {
    /// To: paused, stopping, ended.
    case running
    /// An operator paused the lane. To: running, stopping, ended.
    case paused
    /// The lane drains: it asks for no more deliveries and delivers those in transit. To: leaving, ended.
    case stopping
    /// No more deliveries come. Requests that are not sent yet return to the broker. To: ended.
    case leaving
    /// The deadline of the drain has passed, or the connections are closed: nothing is published any more.
    case ended

    var isDraining: Bool {
        switch self {
        case .running, .paused: false
        case .stopping, .leaving, .ended: true
        }
    }

    /// Whether requests that are not sent yet return to the broker.
    var isLeaving: Bool { self == .leaving || self == .ended }
}
