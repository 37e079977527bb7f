/// How a delivery ended; the second word of a result's routing key.
public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// APNs took it.
    case accepted
    /// APNs refused it for good, or at every try.
    case rejected
    /// Too late to be sent.
    case expired
    /// The message itself is wrong; it was never sent.
    case invalid
    /// The answer never came: it may have been sent.
    case unknown

    /// Its place among all.
    public var number: Int {
        switch self {
        case .accepted: 0
        case .rejected: 1
        case .expired: 2
        case .invalid: 3
        case .unknown: 4
        }
    }
}

/// What is known of the device token after an answer.
public enum TokenState: String, Sendable, Hashable {
    case valid
    /// Dead: its owner should forget it, if it was not registered later than the answer's timestamp.
    case unregistered
    /// Doubtful: perhaps of another environment or topic. To be forgotten after a second, independent hit.
    case suspect
}
