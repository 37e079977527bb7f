import Delivery

/// A thread that reports a part of the worker's status.
enum StatusSource {
    case lane(LaneThread)
    case registrations(RegistrationThread)

    enum Answer: Sendable {
        case lane(LaneStatus)
        case registrations(RegistrationConsumer.Status)

        var lane: LaneStatus? { if case .lane(let status) = self { status } else { nil } }
        var registrations: RegistrationConsumer.Status? {
            if case .registrations(let status) = self { status } else { nil }
        }
    }

    /// Queries the status.
    ///
    /// - Parameter answer: called on the thread of the source; not called if the source has ended.
    func query(_ answer: @escaping @Sendable (Answer) -> Void) {
        switch self {
        case .lane(let thread): thread.status { answer(.lane($0)) }
        case .registrations(let thread): thread.status { answer(.registrations($0)) }
        }
    }
}
