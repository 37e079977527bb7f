/// The outcome of a request; the second word of a result's routing key.
public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// APNs accepted the push.
    case accepted
    /// APNs refused the push permanently, or at every attempt.
    case rejected
    /// The request expired before it could be pushed.
    case expired
    /// The request violates the contract; it was never pushed.
    case invalid
    /// APNs never answered, or a worker stopped: the push may have been sent.
    case unknown

    /// The index in `allCases`.
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

/// The state of the device token according to APNs' answer.
public enum TokenState: String, Sendable, Hashable {
    case valid
    /// The token is no longer valid. The producer should remove it, unless the device registered it after the answer's
    /// timestamp.
    case unregistered
    /// The token may belong to another environment or topic. The producer should remove it after a second, independent
    /// report.
    case suspect
}
