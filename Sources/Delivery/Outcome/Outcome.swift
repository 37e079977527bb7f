/// The outcome of a request, and the second word of a result's routing key.
public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// A push that APNs accepted.
    case accepted
    /// A push that APNs refused permanently or at the last attempt. Also a request that was held for too long. Also a
    /// valid request for which no push is possible, such as a request to a user without a device.
    case rejected
    /// A request that expired before APNs accepted it.
    case expired
    /// A request that violates the contract and was not pushed.
    case invalid
    /// A push that may have been sent. APNs did not answer, or a worker stopped or lost the broker connection.
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

/// The state of the device token after APNs' answer.
public enum TokenState: String, Sendable, Hashable {
    /// A token that APNs accepted, or that the device registered after the timestamp of the answer.
    case valid
    /// A token that is no longer valid. The producer should remove the token, unless the device registered it after the
    /// answer's timestamp.
    case unregistered
    /// A token that may belong to another environment or topic. The producer should remove the token after a second,
    /// independent report.
    case suspect

    var isRefused: Bool { self != .valid }
}
